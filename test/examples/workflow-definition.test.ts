import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadWorkflow } from '../../src/workflow/definition/load.ts'
import { listToolNames } from '../../src/workflow/definition/walk.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

test('the workflows of the examples are good ones [9.definition]', async () => {
  expect(listToolNames(await loadWorkflow('workflow/nightly.yaml', { cwd: examples }))).toEqual([
    'find_files',
    'copy_file',
    'remove_file',
    'report',
    'clean_up',
  ])
  expect(
    listToolNames(await loadWorkflow('orchestration/workflow.json', { cwd: examples })),
  ).toEqual(['example_processor', 'data_migrator'])
})
