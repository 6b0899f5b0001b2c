import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith, project, toolable } from './support.ts'
import '../support/without-coverage.ts'

const TOOLS = `import { tool } from '${join(project, '../../../../dist/index.js')}'
export const gen = tool({ name: 'gen', summary: 'Numbers', input: { type: 'object', properties: { n: { type: 'integer' } } }, run: ({ n }) => Array.from({ length: n }, (_, index) => index) })
export const fail = tool({ name: 'fail', summary: 'Fails', input: { type: 'object', properties: { msg: { type: 'string' } } }, run: ({ msg }) => { throw new Error(msg) } })
`
const FLOW = `input: {n: integer}
steps:
  - {name: g, tool: gen, input: {n: "\${{ input.n }}"}}
  - {name: e, each: {items: "\${{ steps.g.result }}", do: [{name: x, when: item == 1100, tool: fail, input: {msg: i}, on_error: continue}]}}
  - {name: after, tool: fail, input: {msg: late}}
finally:
  - {name: last, tool: gen, input: {n: 1}}
`

test('of very many steps those that failed and those of the workflow itself are shown, and the rest is counted [7.runs-show]', async () => {
  const cwd = folderWith({
    'toolable.yaml': 'modules: [tools.mjs]\n',
    'tools.mjs': TOOLS,
    'flow.yaml': FLOW,
  })
  expect(
    (await toolable(['workflow', 'run', 'flow.yaml', 'n=1200', '--progress', 'none'], { cwd }))
      .status,
  ).toBe(1)
  const { json } = await toolable(['runs', 'show', 'latest'], { cwd })
  const { steps, more_steps: more, error, run_id: id } = json.result
  const isItem = ({ step, state }: { readonly step: string; readonly state: string }): boolean =>
    step.startsWith('e/') && state === 'skipped'
  expect([steps.filter(isItem).length, more]).toEqual([1000, 199])
  expect(
    steps
      .filter((step: never) => !isItem(step))
      .map(({ step, state }: { step: string; state: string }) => `${step} ${state}`),
  ).toEqual(['g ok', 'e ok', 'e/1100/x failed', 'after failed', 'finally/last ok'])
  expect(error).toEqual({ code: 'E_UNKNOWN', message: 'late', step: 'after' })
  const { stdout } = await toolable(['runs', 'show', 'latest', '-o', 'text'], { cwd })
  expect(stdout).toContain('\n  error     E_UNKNOWN in step after: late\n')
  expect(stdout).toContain(`\n  step      and 199 more: toolable runs logs ${id}\n`)
})
