import { describe, expect, test } from 'vitest'
import { makeProject } from '../support.ts'
import type { Project } from '../support.ts'
import '../../support/without-coverage.ts'

const TOOLS = `import { appendFileSync } from 'node:fs'
import { tool } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)}
export const wipe = tool({ name: 'wipe', summary: 'Wipe', annotations: { destructive: true }, input: { type: 'object', properties: { x: { type: 'string' } } }, run: ({ x }, ctx) => (appendFileSync(ctx.cwd + '/counted', 'wiped ' + x + '\\n'), 'wiped') })
`

function makeDestructive(): Project {
  const project = makeProject({})
  project.write('tools.mjs', TOOLS)
  project.write('toolable.yaml', 'modules: [./tools.mjs]\nworkflows: [workflows]\n')
  project.write('workflows/tidy.yaml', 'name: tidy\ninput: {what: string}\nsteps:\n  - {name: ask, type: ai_decision, decision_type: ask, instruction: Sure?, options: [yes, no], default: yes}\n  - {name: wipe, tool: wipe, when: "input.what != \'none\'", input: {x: "${{ input.what }}"}}\n')
  return project
}

describe('a dry run', () => {
  test('of workflow run is the plan for its input, and nothing is done [9.workflow-dry-run]', async () => {
    const project = makeDestructive()
    const run = (...args: readonly string[]) => project.toolable(['workflow', 'run', 'tidy', '--dry-run', ...args])
    const [dry, planned, words, wrong, remote] = await Promise.all([
      run('what=none', '--yes', '--detach'),
      project.toolable(['workflow', 'plan', 'tidy', '--input', '{"what":"none"}']),
      run('what=all', '-o', 'text'),
      run(),
      run('what=all', '--engine', 'restate'),
    ])
    expect([dry.status, dry.json.result, dry.json.meta.dry_run]).toEqual([0, planned.json.result, true])
    expect(dry.json.result.steps[1]).toMatchObject({ key: 'wipe', taken: false })
    expect([words.status, words.stdout]).toEqual([0, expect.stringMatching(/^tidy\n {2}ask .*\n(.*\n)* {2}wipe {2}wipe/)])
    expect([wrong.status, wrong.json.error.code]).toEqual([2, 'INVALID_INPUT'])
    expect([remote.status, remote.json.result.name]).toEqual([0, 'tidy'])
    expect([project.counted(), project.ids()]).toEqual([[], []])
  })

  test('of a resume is refused: it would act [9.workflow-dry-run]', async () => {
    const project = makeDestructive()
    project.write('workflows/left.yaml', 'name: left\nsteps:\n  - {name: ask, type: ai_decision, decision_type: ask, options: [yes]}\n  - {name: wipe, tool: wipe, input: {x: left}}\n')
    expect((await project.toolable(['workflow', 'run', 'left', '--yes'])).status).toBe(77)
    const refused = await Promise.all([['resume', 'latest', '--answer', 'ask=yes'], ['workflow', 'resume', 'latest', '--answer', 'ask=yes'], ['workflow', 'resume']].map((args) => project.toolable([...args, '--dry-run'])))
    expect(refused.map(({ status, json }) => [status, json.error.code, json.error.field])).toEqual([1, 2, 3].map(() => [1, 'PRECONDITION', 'dry_run']))
    expect(project.counted()).toEqual([])
  })
})
