import { chmodSync, existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { registry } from '../../../src/registry/index.ts'
import { createRunner } from '../../../src/runner/create-runner.ts'
import { runInTerminal } from '../../support/run-in-terminal.ts'
import '../../support/without-coverage.ts'
import { COUNT, makeProject } from '../../workflow/support.ts'
import type { Line, Project } from '../../workflow/support.ts'
import { failureOf, openDashboard, untilOver } from './support.ts'
import { TOOLABLE } from '../../support/toolable-program.ts'

const HERE = 'permissions: {}\n'
const ASKS = `name: asks
steps:
  - {name: before, type: tool, tool: count, input: {name: before, log: FOLDER/counted}, compensate: [{name: undo, type: tool, tool: count, input: {name: undo, log: FOLDER/counted}}]}
  - {name: approve, type: ai_decision, decision_type: approve, instruction: "Go on?", options: [yes, no]}
  - {name: after, type: tool, tool: count, input: {name: after, log: FOLDER/counted}}
`

function withWorkflow(): Project {
  const project = makeProject()
  project.write('workflows/asks.yaml', ASKS.replaceAll('FOLDER', project.folder))
  project.write('toolable.yaml', 'folders: [tools]\nworkflows: [workflows]\n')
  return project
}

/** Waits until the record of a run has such a line. */
async function until(project: Project, id: string, fits: (line: Line) => boolean): Promise<Line> {
  await expect
    .poll(() => existsSync(`${project.runs}/${id}/events.jsonl`) && project.log(id).some(fits))
    .toBe(true)
  return project.log(id).find(fits)!
}

const asked = ({ type }: Line): boolean => type === 'action_required'
const answersOf = (lines: readonly Line[]): unknown[] =>
  lines.flatMap(({ answer }) => (answer ? [answer] : []))

describe('a run', () => {
  test('is cancelled at once, with the reason on record [10.actions-cancel]', async () => {
    const project = makeProject()
    const { actions } = openDashboard(project.folder)
    const first = await actions.start({
      tool: 'count',
      input: { name: 'a', gate: project.path('gate') },
    })
    await until(project, first.run_id, ({ type }) => type === 'progress')
    await actions.cancel(first.run_id, 'it was the wrong one')
    expect(await untilOver(project, first.run_id)).toMatchObject({ state: 'cancelled' })
    expect(project.log(first.run_id).find(({ type }) => type === 'cancelled')).toMatchObject({
      reason: 'it was the wrong one',
    })
    expect(await failureOf(actions.cancel(first.run_id, undefined))).toMatchObject({
      code: 'PRECONDITION',
      message: expect.stringContaining('is over'),
    })
    expect(await failureOf(actions.cancel('latest', undefined))).toMatchObject({
      code: 'NOT_FOUND',
    })
    expect(await failureOf(actions.cancel('r-0000000000', undefined))).toMatchObject({
      code: 'NOT_FOUND',
    })
    const second = await actions.start({
      tool: 'count',
      input: { name: 'b', gate: project.path('gate') },
    })
    await until(project, second.run_id, ({ type }) => type === 'progress')
    await project.toolable(['cancel', second.run_id, '--reason', 'too slow'])
    expect(project.log(second.run_id).find(({ type }) => type === 'cancelled')).toMatchObject({
      reason: 'too slow',
    })
  })

  test('goes on in the background where it was, for one of two who want that at once [10.actions-resume]', async () => {
    const project = makeProject()
    const { actions } = openDashboard(project.folder)
    project.write('fail', 'E_INVALID_INPUT')
    const { run_id } = await actions.start({
      tool: 'count',
      input: {
        name: 'a',
        log: project.path('counted'),
        fail: project.path('fail'),
        gate: project.path('gate'),
      },
    })
    writeFileSync(project.path('gate'), '')
    expect(await untilOver(project, run_id)).toMatchObject({ state: 'failed', attempt: 1 })
    writeFileSync(project.path('fail'), 'E_INVALID_INPUT')
    rmSync(project.path('gate'))
    const both = await Promise.allSettled([actions.resume(run_id), actions.resume(run_id)])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect((both[1] as PromiseRejectedResult).reason).toMatchObject({ code: 'CONFLICT' })
    rmSync(project.path('fail'))
    writeFileSync(project.path('gate'), '')
    expect(await untilOver(project, run_id)).toMatchObject({ state: 'completed', attempt: 2 })
    expect(project.counted()).toEqual(['a', 'a'])
    expect(await failureOf(actions.resume(run_id))).toMatchObject({
      code: 'PRECONDITION',
      message: expect.stringContaining('is completed'),
    })
  })

  test('is started again as it was, or with another input, within the same limits [10.actions-retry]', async () => {
    const project = makeProject({
      'workflow/count.sh': COUNT.replace('permissions: {', 'permissions: {secrets: [token], '),
    })
    chmodSync(project.write('token.txt', 'secret-word-1234'), 0o600)
    mkdirSync(project.path('other'))
    const { actions } = openDashboard(project.folder)
    const before = (
      await project.toolable(
        [
          'run',
          '--detach',
          '--timeout',
          '77',
          '--retries',
          '1',
          '--heartbeat-grace',
          '33',
          '--allow-level',
          'L1',
          '--answer',
          'way=left',
          '--secret-file',
          `token=${project.path('token.txt')}`,
          'count',
          '--name',
          'as typed',
          '--log',
          project.path('counted'),
        ],
        { cwd: project.path('other') },
      )
    ).json.result.run_id as string
    await untilOver(project, before)
    const same = await actions.retry(before, undefined, false)
    const other = await actions.retry(
      before,
      { name: 'changed', log: project.path('counted') },
      false,
    )
    await Promise.all([untilOver(project, same.run_id), untilOver(project, other.run_id)])
    const [old, again, changed] = [before, same.run_id, other.run_id].map((id) =>
      project.request(id),
    )
    const kept = ({
      tool,
      cwd,
      timeout_s,
      retries,
      heartbeat_grace_s,
      allow_level,
      answers,
      secrets,
    }: typeof old): unknown[] => [
      tool,
      cwd,
      timeout_s,
      retries,
      heartbeat_grace_s,
      allow_level,
      answers,
      secrets,
    ]
    expect(kept(old)).toEqual([
      'tools.count',
      project.path('other'),
      77,
      1,
      33,
      'L1',
      { way: 'left' },
      { token: project.path('token.txt') },
    ])
    expect([kept(again), kept(changed)]).toEqual([kept(old), kept(old)])
    expect([again.args, changed.args]).toEqual([
      old.args,
      ['--name', 'changed', '--log', project.path('counted')],
    ])
    expect([again.caller, again.idempotency_key, again.trace_id === old.trace_id]).toEqual([
      'dashboard',
      same.run_id,
      false,
    ])
    expect(project.counted().sort()).toEqual(['as typed', 'as typed', 'changed'])
    expect(await failureOf(actions.retry(before, { nam: 'x' }, false))).toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('of a workflow is started again by the definition that is there now [10.actions-retry]', async () => {
    const project = withWorkflow()
    const { actions } = openDashboard(project.folder)
    await project.toolable(['workflow', 'run', 'asks', '--answer', 'approve=yes'])
    const [id] = project.ids().filter((one) => project.request(one).command === 'workflow')
    project.write(
      'workflows/asks.yaml',
      ASKS.replaceAll('FOLDER', project.folder).replace('name: before, log', 'name: mended, log'),
    )
    const { run_id } = await actions.retry(id!, undefined, false)
    expect(await untilOver(project, run_id)).toMatchObject({ state: 'completed' })
    expect(project.counted()).toEqual(['before', 'after', 'mended', 'after'])
  })

  test('that is over for so many days is removed, and no other [10.actions-clean]', async () => {
    const project = makeProject()
    const { actions } = openDashboard(project.folder)
    const [old, live] = await Promise.all([
      actions.start({ tool: 'count', input: { name: 'a' } }),
      actions.start({ tool: 'count', input: { name: 'b', gate: project.path('gate') } }),
    ])
    await untilOver(project, old.run_id)
    expect(await actions.clean(1)).toEqual({ removed: 0, bytes: 0 })
    expect(await failureOf(actions.clean(-1))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'days',
    })
    utimesSync(`${project.runs}/${old.run_id}/run.json`, 0, 0)
    const { removed, bytes } = await actions.clean(0)
    expect([removed, project.ids()]).toEqual([1, [live.run_id]])
    expect(bytes).toBeGreaterThan(0)
    writeFileSync(project.path('gate'), '')
    await untilOver(project, live.run_id)
  })
})

describe('a question', () => {
  test('is answered with who did it and what he said, and whoever comes second learns who was first [10.actions-answer]', async () => {
    const project = makeProject({ 'runner/asks.py': HERE })
    const { actions } = openDashboard(project.folder)
    const { run_id } = await actions.start({ tool: 'asks', input: {} })
    await until(project, run_id, asked)
    expect(await failureOf(actions.answer(run_id, 'q1', 'up', undefined))).toMatchObject({
      code: 'INVALID_INPUT',
    })
    const both = await Promise.allSettled([
      actions.answer(run_id, 'q1', 'left', 'it is shorter'),
      actions.answer(run_id, 'q1', 'right', undefined),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect((both[1] as PromiseRejectedResult).reason).toMatchObject({
      code: 'CONFLICT',
      message: "the question 'q1' has an answer already: dashboard was first",
    })
    expect(await untilOver(project, run_id)).toMatchObject({ state: 'completed' })
    expect(answersOf(project.log(run_id))).toEqual([
      { id: 'q1', by: 'dashboard', value: 'left', note: 'it is shorter' },
    ])
    expect(await failureOf(actions.answer(run_id, 'q1', 'right', undefined))).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('dashboard was first'),
    })
    const late = await project.toolable(['answer', run_id, 'right', '--question', 'q1'])
    expect([late.status, late.json.error.code]).toEqual([73, 'CONFLICT'])
  })

  test('that an agent answered by the command line says so, and one of a run that is over tells the command [10.actions-answer]', async () => {
    const project = makeProject({ 'runner/asks.py': HERE })
    const { actions } = openDashboard(project.folder)
    const { run_id } = await actions.start({ tool: 'asks', input: {} })
    await until(project, run_id, asked)
    await project.toolable(['answer', run_id, 'right'], { env: { AI_AGENT: 'helper-bot' } })
    await untilOver(project, run_id)
    expect(answersOf(project.log(run_id))).toEqual([{ id: 'q1', by: 'helper-bot', value: 'right' }])
    const left = await project.toolable(['run', 'asks'])
    const failed = left.lines[0].run_id as string
    expect(await failureOf(actions.answer(failed, 'q1', 'left', undefined))).toMatchObject({
      code: 'PRECONDITION',
      suggestion: { fix: expect.stringContaining(`toolable resume ${failed} --answer q1=`) },
    })
  })

  test('of a workflow that nobody performs is answered, and the workflow goes on [10.actions-left]', async () => {
    const project = withWorkflow()
    const { actions } = openDashboard(project.folder)
    await project.toolable(['workflow', 'run', 'asks'])
    const [id] = project.ids().filter((one) => project.request(one).command === 'workflow')
    const question = project.log(id!).find(asked)!['interaction'].id as string
    await actions.answer(id!, question, 'yes', 'looks good')
    expect(await untilOver(project, id!)).toMatchObject({ state: 'completed' })
    expect(project.counted()).toEqual(['before', 'after'])
    expect(answersOf(project.log(id!))).toMatchObject([
      { by: 'dashboard', value: 'yes', note: 'looks good' },
    ])
  })

  test('of a workflow that nobody performs can be cancelled: what was done is taken back, in the background [10.actions-left]', async () => {
    const project = withWorkflow()
    const { actions } = openDashboard(project.folder)
    await project.toolable(['workflow', 'run', 'asks'])
    const [id] = project.ids().filter((one) => project.request(one).command === 'workflow')
    await actions.cancel(id!, 'not any more')
    await until(project, id!, ({ type, attempt }) => type === 'runner_end' && attempt === 2)
    expect([project.log(id!).at(-1), project.counted()]).toMatchObject([
      { state: 'cancelled' },
      ['before', 'undo'],
    ])
  })
})

describe('who asked for a run', () => {
  test('is on record: a person, an agent, a program, a workflow, or nobody who could be told [7.run-caller]', async () => {
    const project = makeProject({ 'workflow/count.sh': COUNT })
    project.write(
      'flow.yaml',
      'name: flow\nsteps:\n  - {name: one, type: tool, tool: count, input: {name: x}}\n',
    )
    await runInTerminal(TOOLABLE, ['run', 'count', '--name', 'a'], { cwd: project.folder })
    const [agent, , nobody] = await Promise.all([
      project.toolable(['run', 'count', '--name', 'b'], { env: { CLAUDECODE: '1' } }),
      project.toolable(['workflow', 'run', 'flow.yaml'], { env: { TOOLABLE_CALLER: 'nightly' } }),
      project.toolable(['run', 'count', '--name', 'c']),
    ])
    const opened = await registry({ cwd: project.folder, folders: ['tools'] })
    await (
      await createRunner({ registry: opened, cwd: project.folder }).start(
        'count',
        { args: ['--name', 'd'] },
        { caller: 'my-program' },
      )
    ).done
    await opened.close()
    const listed = (await project.toolable(['runs', 'list'])).json.result.runs as {
      readonly run_id: string
      readonly tool: string
      readonly caller?: string
    }[]
    expect(listed.map(({ caller = '' }) => caller).sort()).toEqual([
      '',
      'claude-code',
      'my-program',
      'nightly',
      'person',
      'workflow',
    ])
    expect(listed.find(({ tool }) => tool === 'workflow.flow')).toMatchObject({ caller: 'nightly' })
    const [shown, words, unknown] = await Promise.all([
      project.toolable(['runs', 'show', agent.lines[0].run_id]),
      project.toolable(['runs', 'show', agent.lines[0].run_id, '-o', 'text']),
      project.toolable(['runs', 'show', nobody.lines[0].run_id]),
    ])
    expect(shown.json.result.caller).toBe('claude-code')
    expect(words.stdout).toMatch(/^ {2}caller +claude-code$/m)
    expect(unknown.json.result).not.toHaveProperty('caller')
  })
})
