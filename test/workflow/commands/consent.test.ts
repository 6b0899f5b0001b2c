import { describe, expect, test } from 'vitest'
import { runInTerminal } from '../../support/run-in-terminal.ts'
import { TOOLABLE } from '../../support/toolable-program.ts'
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
  project.write(
    'workflows/tidy.yaml',
    'name: tidy\ninput: {what: string}\nsteps:\n  - {name: ask, type: ai_decision, decision_type: ask, instruction: Sure?, options: [yes, no], default: yes}\n  - {name: wipe, tool: wipe, when: "input.what != \'none\'", input: {x: "${{ input.what }}"}}\n',
  )
  return project
}

describe('a dry run', () => {
  test('of workflow run is the plan for its input, and nothing is done [9.workflow-dry-run]', async () => {
    const project = makeDestructive()
    const run = (...args: readonly string[]) =>
      project.toolable(['workflow', 'run', 'tidy', '--dry-run', ...args])
    const [dry, planned, words, wrong, remote] = await Promise.all([
      run('what=none', '--yes', '--detach'),
      project.toolable(['workflow', 'plan', 'tidy', '--input', '{"what":"none"}']),
      run('what=all', '-o', 'text'),
      run(),
      run('what=all', '--engine', 'restate'),
    ])
    expect([dry.status, dry.json.result, dry.json.meta.dry_run]).toEqual([
      0,
      planned.json.result,
      true,
    ])
    expect(dry.json.result.steps[1]).toMatchObject({ key: 'wipe', taken: false })
    expect([words.status, words.stdout]).toEqual([
      0,
      expect.stringMatching(/^tidy\n {2}ask .*\n(.*\n)* {2}wipe {2}wipe/),
    ])
    expect([wrong.status, wrong.json.error.code]).toEqual([2, 'INVALID_INPUT'])
    expect([remote.status, remote.json.result.name]).toEqual([0, 'tidy'])
    expect([project.counted(), project.ids()]).toEqual([[], []])
  })

  test('of a resume is refused: it would act [9.workflow-dry-run]', async () => {
    const project = makeDestructive()
    project.write(
      'workflows/left.yaml',
      'name: left\nsteps:\n  - {name: ask, type: ai_decision, decision_type: ask, options: [yes]}\n  - {name: wipe, tool: wipe, input: {x: left}}\n',
    )
    expect((await project.toolable(['workflow', 'run', 'left', '--yes'])).status).toBe(77)
    const refused = await Promise.all(
      [
        ['resume', 'latest', '--answer', 'ask=yes'],
        ['workflow', 'resume', 'latest', '--answer', 'ask=yes'],
        ['workflow', 'resume'],
      ].map((args) => project.toolable([...args, '--dry-run'])),
    )
    expect(refused.map(({ status, json }) => [status, json.error.code, json.error.field])).toEqual(
      [1, 2, 3].map(() => [1, 'PRECONDITION', 'dry_run']),
    )
    expect(project.counted()).toEqual([])
  })
})

describe('consent', () => {
  test('to a destructive workflow is given by --yes; without it nothing begins [9.workflow-consent]', async () => {
    const project = makeDestructive()
    const run = (args: readonly string[], env: { readonly [name: string]: string } = {}) =>
      project.toolable(['workflow', 'run', 'tidy', 'what=all', ...args], { env })
    const refused = await Promise.all([
      run([]),
      run([], { TOOLABLE_CALLER: 'claude' }),
      run(['--detach']),
      project.toolable(['run', 'tidy', '--what', 'all']),
    ])
    expect(refused.map(({ status, json }) => [status, json.error.code])).toEqual(
      [1, 2, 3, 4].map(() => [77, 'CONFIRMATION_REQUIRED']),
    )
    expect(refused[0].json.error.suggestion.example).toBe('toolable workflow run tidy --yes ...')
    expect([project.counted(), project.ids()]).toEqual([[], []])
    expect((await run(['--yes'])).status).toBe(0)
    expect(project.counted()).toEqual(['wiped all'])
  })

  test('a person is asked, and answers the workflow afterwards [9.workflow-consent]', async () => {
    const project = makeDestructive()
    const at = (args: readonly string[], answers: readonly string[]) =>
      runInTerminal(TOOLABLE, args, {
        cwd: project.folder,
        env: { NO_COLOR: '1' },
        steps: answers.map((send, index) => ({
          wait: index === 0 ? '[y/N] ' : '> ',
          send: `${send}\r`,
        })),
      })
    const declined = await at(['workflow', 'run', 'tidy', 'what=no'], ['n'])
    expect([declined.status, declined.screen]).toEqual([
      77,
      expect.stringContaining("'tidy' was not run: its confirmation was declined"),
    ])
    const agreed = await at(
      ['workflow', 'run', 'tidy', 'what=yes', '--progress', 'plain'],
      ['y', 'yes'],
    )
    expect([agreed.status, agreed.screen]).toEqual([
      0,
      expect.stringContaining('tidy is destructive. Run it? [y/N] y'),
    ])
    expect(
      (await at(['run', '--progress', 'plain', 'tidy', '--what', 'run'], ['y', 'yes'])).status,
    ).toBe(0)
    expect(project.counted()).toEqual(['wiped yes', 'wiped run'])
  })
})
