import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadWorkflow } from '../../src/workflow/definition/load-workflow.ts'
import { toolsOf } from '../../src/workflow/definition/tools-of.ts'

const examples = fileURLToPath(new URL('../../examples/', import.meta.url))

test('the workflows of the examples are good ones [9.definition]', async () => {
  expect(toolsOf(await loadWorkflow('workflow/nightly.yaml', { cwd: examples }))).toEqual([
    'find_files',
    'copy_file',
    'remove_file',
    'report',
    'clean_up',
  ])
  expect(toolsOf(await loadWorkflow('orchestration/workflow.json', { cwd: examples }))).toEqual([
    'example_processor',
    'data_migrator',
  ])
})
