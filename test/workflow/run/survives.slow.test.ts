import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listNaming } from '../../support/processes.ts'
import { makeProject } from '../support.ts'
import type { Project } from '../support.ts'
import '../../support/without-coverage.ts'

// Everything that a workflow is made of, with a gate in front of each step that a test can shut.
function writeFlow(project: Project, more: object = {}): void {
  const line = (name: string): string =>
    `./tool count --name ${name} --log ${project.path('counted')} --gate ${project.path(`gate-${name}`)}`
  project.write(
    'flow.json',
    JSON.stringify({
      name: 'flow',
      steps: [
        {
          name: 'first',
          type: 'tool',
          command: line('first'),
          compensate: { name: 'undo', command: line('undo') },
        },
        {
          name: 'choose',
          type: 'ai_decision',
          decision_type: 'way',
          instruction: 'Which way?',
          options: ['left', 'right'],
        },
        { name: 'both', type: 'parallel', tasks: [line('one'), line('two')] },
        {
          name: 'last',
          tool: 'count',
          input: {
            name: '${{ steps.choose.result }}',
            log: project.path('counted'),
            fail: project.path('fail'),
          },
          retry: 0,
        },
      ],
      output: {
        first: '${{ steps.first.result.name }}',
        way: '${{ steps.choose.result }}',
        both: '${{ steps.both.result }}',
        last: '${{ steps.last.result.name }}',
      },
      ...more,
    }),
  )
}

function open(project: Project, ...names: readonly string[]): void {
  for (const name of names) writeFileSync(project.path(`gate-${name}`), '')
}

const workflowOf = (project: Project): string =>
  project.ids().find((id) => existsSync(join(project.runs, id, 'journal.jsonl')))!
const resultOf = (lines: readonly any[]): any =>
  lines.findLast(({ type }) => type === 'result')?.result
const withoutKeys = (result: any): any => ({
  ...result,
  both: result.both.map(({ name }: any) => name),
})
const OUTPUT = { first: 'first', way: 'left', both: ['one', 'two'], last: 'left' }

describe('kill -9', () => {
  test('in a tool, while it waits and in parallel: resume goes on, and what is recorded ran once [9.workflow-killed] [9.workflow-answer-left]', async () => {
    const project = makeProject()
    writeFlow(project)
    const first = project.start(['workflow', 'run', 'flow.json', '--wait'])
    await expect.poll(() => project.counted()).toEqual(['first'])
    first.kill('SIGKILL')
    await first.ended
    const id = workflowOf(project)
    open(project, 'first')

    const second = project.start(['workflow', 'resume', id, '--wait'])
    await second.said('"interaction"')
    second.kill('SIGKILL')
    await second.ended
    // What was begun and not recorded was begun again; from here on it is on record.
    expect(project.counted()).toEqual(['first', 'first'])
    const [answered, twice] = [
      await project.toolable(['workflow', 'answer', id, 'left']),
      await project.toolable(['answer', id, 'right']),
    ]
    expect(answered.json.result).toMatchObject({
      question: 'choose',
      value: 'left',
      go_on: `toolable resume ${id}`,
    })
    expect(twice).toMatchObject({
      status: 73,
      json: { error: { code: 'CONFLICT', message: expect.stringContaining('answer already') } },
    })

    const third = project.start(['resume', id])
    await expect.poll(() => project.counted().slice(2).sort()).toEqual(['one', 'two'])
    open(project, 'one')
    await expect
      .poll(() =>
        project.log(id).some(({ type, task_id }) => type === 'task_done' && task_id === 'both/0'),
      )
      .toBe(true)
    third.kill('SIGKILL')
    await third.ended
    open(project, 'two')
    const last = await project.toolable(['resume', id])
    expect([last.status, withoutKeys(resultOf(last.lines))]).toEqual([0, OUTPUT])
    expect(
      project
        .counted()
        .filter((name) => name === 'one' || name === 'left')
        .sort(),
    ).toEqual(['left', 'one'])
    expect(project.log(id).map(({ seq }) => seq)).toEqual(
      project.log(id).map((_line, index) => index + 1),
    )

    const undisturbed = await project.toolable([
      'workflow',
      'run',
      'flow.json',
      '--answer',
      'way=left',
    ])
    expect(withoutKeys(resultOf(undisturbed.lines))).toEqual(OUTPUT)
    expect(listNaming(project.folder)).toEqual([])
    expect(project.ids().filter((one) => existsSync(join(project.runs, one, 'lock')))).toEqual([])
  })

  test('while it takes back what it did: resume finishes that, and it has failed for the reason that it had [9.workflow-killed] [9.workflow-over]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'one', 'two')
    project.write('fail', 'E_SCHEMA_MISMATCH')
    const running = project.start(['workflow', 'run', 'flow.json', '--answer', 'way=left'])
    await expect.poll(() => project.counted().at(-1)).toBe('undo')
    running.kill('SIGKILL')
    await running.ended
    open(project, 'undo')
    const id = workflowOf(project)
    const resumed = await project.toolable(['resume', id])
    expect([resumed.status, resumed.lines.at(-2)]).toMatchObject([
      2,
      { type: 'error', code: 'E_SCHEMA_MISMATCH', msg: 'left failed', context: { step: 'last' } },
    ])
    expect(project.counted().sort()).toEqual(['first', 'left', 'one', 'two', 'undo', 'undo'])
    const again = await project.toolable(['resume', id])
    expect(again).toMatchObject({
      status: 1,
      json: {
        error: {
          code: 'PRECONDITION',
          message: expect.stringContaining('come to its end: it is failed'),
        },
      },
    })
  })

  test('between the end of the workflow and that of its run: resume tells the end that is on record [9.workflow-killed]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'one', 'two')
    // define, begin, first, ask, choose, one, two, last and the end are written in nine batches at
    // most.
    const killed = await project.toolable(
      ['workflow', 'run', 'flow.json', '--answer', 'way=left'],
      { env: { TOOLABLE_CRASH_AT: 'execution.ended' } },
    )
    expect(killed.signal).toBe('SIGKILL')
    const id = workflowOf(project)
    const resumed = await project.toolable(['resume', id])
    expect([resumed.status, withoutKeys(resultOf(resumed.lines))]).toEqual([0, OUTPUT])
    expect(project.counted().sort()).toEqual(['first', 'left', 'one', 'two'])
  })

  test('leaves runs that workflow resume takes up, all of them [9.workflow-resume-all] [9.workflow-list]', async () => {
    const project = makeProject()
    project.write(
      'short.json',
      JSON.stringify({
        name: 'short',
        steps: [
          {
            name: 'only',
            command: `count --name only --log ${project.path('counted')} --gate ${project.path('gate-only')}`,
          },
        ],
      }),
    )
    const running = [1, 2].map(() => project.start(['workflow', 'run', 'short.json']))
    await expect.poll(() => project.counted().length).toBe(2)
    for (const one of running) one.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    open(project, 'only')
    const resumed = await project.toolable(['workflow', 'resume'])
    const ids = resumed.lines.map(({ result }) => result.run_id)
    expect([resumed.status, ids.length]).toEqual([0, 2])
    expect((await project.toolable(['workflow', 'watch', ...ids])).status).toBe(0)
    const listed = await project.toolable([
      'workflow',
      'list',
      '--name',
      'short',
      '--state',
      'completed',
    ])
    expect(listed.json.result.executions).toMatchObject([
      { name: 'short', state: 'completed', duration_s: expect.any(Number) },
      { name: 'short' },
    ])
    expect((await project.toolable(['workflow', 'resume'])).json.result).toEqual({ resumed: [] })
    expect(
      (await project.toolable(['workflow', 'list', '--name', 'other'])).json.result.executions,
    ).toEqual([])
  })
})

describe('SIGTERM and SIGHUP', () => {
  test('end its tools and leave it as it is: nothing is taken back, and resume goes on [9.workflow-ended]', async () => {
    const project = makeProject()
    writeFlow(project)
    const first = project.start(['workflow', 'run', 'flow.json', '--wait'])
    await expect.poll(() => project.counted()).toEqual(['first'])
    first.kill('SIGTERM')
    const ended = await first.ended
    const id = workflowOf(project)
    expect([ended.status, ...ended.lines.slice(-2)]).toMatchObject([
      143,
      { type: 'runner_error', code: 'E_INTERRUPTED', hint: `toolable workflow resume ${id}` },
      { type: 'runner_end', state: 'failed', rc: 143 },
    ])
    expect(ended.lines.filter(({ type }) => type === 'task_done')).toEqual([])
    expect(listNaming(project.folder)).toEqual([])
    expect((await project.toolable(['workflow', 'list'])).json.result.executions).toMatchObject([
      { run_id: id, state: 'failed' },
    ])
    open(project, 'first', 'undo')

    const second = project.start(['workflow', 'resume', id, '--wait', '-o', 'text'])
    await second.said('Which way?')
    second.kill('SIGHUP')
    const hungUp = await second.ended
    expect([hungUp.status, hungUp.stdout]).toEqual([
      129,
      expect.stringContaining(`go on      toolable resume ${id}`),
    ])
    // What it asked is still asked.
    expect((await project.toolable(['answer', id, 'left'])).json.result).toMatchObject({
      question: 'choose',
      go_on: `toolable resume ${id}`,
    })

    const third = project.start(['resume', id])
    await expect.poll(() => project.counted().slice(2).sort()).toEqual(['one', 'two'])
    third.kill('SIGTERM')
    expect((await third.ended).status).toBe(143)
    open(project, 'one', 'two')
    const last = await project.toolable(['resume', id])
    expect([last.status, withoutKeys(resultOf(last.lines))]).toEqual([0, OUTPUT])
    expect(resultOf(last.lines).both.map(({ key }: any) => key)).toEqual(
      project
        .log(id)
        .filter(
          ({ type, task_id, attempt }) =>
            type === 'task_started' && String(task_id).startsWith('both/') && attempt === 4,
        )
        .map(({ task_id }) => `${id}/${task_id}`),
    )
    expect(project.counted().sort()).toEqual(['first', 'first', 'left', 'one', 'one', 'two', 'two'])
  })

  test('leave a detached one too; Ctrl-C after a resume still takes back [9.workflow-ended]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'undo')
    const {
      json: { result },
    } = await project.toolable(['workflow', 'run', 'flow.json', '--answer', 'way=left', '--detach'])
    await expect.poll(() => project.counted().length).toBe(3)
    process.kill(result.supervisor, 'SIGTERM')
    await expect
      .poll(() => project.log(result.run_id).at(-1))
      .toMatchObject({ type: 'runner_end', code: 'E_INTERRUPTED' })
    await expect.poll(() => listNaming(project.folder)).toEqual([])
    expect(project.counted()).not.toContain('undo')

    const again = project.start(['workflow', 'resume', result.run_id])
    await expect.poll(() => project.counted().length).toBe(5)
    again.kill('SIGINT')
    expect((await again.ended).status).toBe(130)
    expect(project.counted().at(-1)).toBe('undo')
  })
})

describe('cancelling', () => {
  test('Ctrl-C ends the children, takes back what was done, and is 130 [9.workflow-cancel] [9.cancel-reaches]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'undo')
    const running = project.start(['workflow', 'run', 'flow.json', '--answer', 'way=left'])
    await expect.poll(() => project.counted().slice(1).sort()).toEqual(['one', 'two'])
    running.kill('SIGINT')
    const end = await running.ended
    expect([end.status, end.lines.at(-1)]).toMatchObject([
      130,
      { type: 'runner_end', state: 'cancelled' },
    ])
    expect(end.lines.at(-2)).toMatchObject({
      type: 'cancelled',
      reason: expect.stringContaining('SIGINT'),
    })
    expect(project.counted().at(-1)).toBe('undo')
    expect(listNaming(project.folder)).toEqual([])
    const states = project
      .ids()
      .map((id) => project.log(id).at(-1)!['state'])
      .sort()
    expect(states).toEqual(['cancelled', 'cancelled', 'cancelled', 'completed', 'completed'])
    expect((await project.toolable(['resume', workflowOf(project)])).json.error.code).toBe(
      'PRECONDITION',
    )
  })

  test('toolable cancel reaches one that runs, and one that nobody performs [9.workflow-cancel]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'undo')
    const { json } = await project.toolable([
      'workflow',
      'run',
      'flow.json',
      '--answer',
      'way=left',
      '--detach',
    ])
    const id = json.result.run_id
    await expect.poll(() => project.counted().length).toBe(3)
    expect((await project.toolable(['workflow', 'cancel', id])).json.result).toEqual({
      run_id: id,
      state: 'cancelled',
    })
    expect(project.counted().at(-1)).toBe('undo')

    const left = await project.toolable(['workflow', 'run', 'flow.json'])
    expect(left.status).toBe(77)
    const other = left.lines[0].run_id
    expect((await project.toolable(['cancel', other])).json.result).toEqual({
      run_id: other,
      state: 'cancelled',
    })
    expect(project.counted().slice(-2)).toEqual(['first', 'undo'])
    expect((await project.toolable(['cancel', other])).json.error.code).toBe('PRECONDITION')
    expect(listNaming(project.folder)).toEqual([])
  })

  test('a reader that goes away cancels it too [9.workflow-cancel]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'undo')
    const running = project.start(['workflow', 'run', 'flow.json', '--answer', 'way=left'])
    await expect.poll(() => project.counted().length).toBe(3)
    running.child.stdout.destroy()
    open(project, 'one')
    await running.ended
    expect(project.log(workflowOf(project)).at(-1)).toMatchObject({
      type: 'runner_end',
      state: 'cancelled',
    })
    expect(project.counted().at(-1)).toBe('undo')
    expect(listNaming(project.folder)).toEqual([])
  })
})

describe('who goes on', () => {
  test('where nobody can answer it stops as it is, names the command, and goes on there [9.workflow-unanswered]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'one', 'two')
    const end = await project.toolable(['workflow', 'run', 'flow.json'])
    const id = end.lines[0].run_id
    expect([end.status, end.lines.at(-2)]).toMatchObject([
      77,
      { code: 'E_ANSWER_REQUIRED', hint: `toolable resume ${id} --answer way=left` },
    ])
    const shown = await project.toolable(['runs', 'show', id])
    expect(shown.json.result).toMatchObject({
      questions: [{ id: 'choose' }],
      steps: [
        { step: 'first', state: 'ok', kind: 'tool', run_id: expect.stringMatching(/^r-/) },
        { step: 'choose', state: 'interrupted' },
      ],
    })
    const resumed = await project.toolable(['resume', id, '--answer', 'way=left'])
    expect([resumed.status, withoutKeys(resultOf(resumed.lines))]).toEqual([0, OUTPUT])
    expect(project.counted().sort()).toEqual(['first', 'left', 'one', 'two'])
    const { json } = await project.toolable(['runs', 'show', 'latest'])
    expect(json.result).toMatchObject({ run_id: id, state: 'completed', questions: [] })
    expect(json.result.steps.map(({ step, state }: any) => `${step} ${state}`)).toEqual([
      'first ok',
      'choose ok',
      'both ok',
      'both/0 ok',
      'both/1 ok',
      'last ok',
    ])
    const child = await project.toolable(['runs', 'show', json.result.steps[0].run_id])
    expect(child.json.result.parent).toEqual({ run_id: id, step: 'first' })
  })

  test('of two who resume it one wins, and the other names the process [9.workflow-one-resumes]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'one', 'two')
    const id = (await project.toolable(['workflow', 'run', 'flow.json'])).lines[0].run_id
    const winner = project.start(['resume', id, '--wait'])
    await winner.said('"interaction"')
    const loser = await project.toolable(['workflow', 'resume', id])
    expect(loser).toMatchObject({
      status: 73,
      json: {
        error: {
          code: 'CONFLICT',
          message: `${id} is being run by process ${winner.pid}`,
          details: { pid: winner.pid },
        },
      },
    })
    await project.toolable(['answer', id, 'left'])
    expect((await winner.ended).status).toBe(0)
  })

  test('a workspace is left as it was: no journal is readable for others, and nothing else lies around [9.workflow-run]', async () => {
    const project = makeProject()
    writeFlow(project)
    open(project, 'first', 'one', 'two')
    await project.toolable(['workflow', 'run', 'flow.json', '--answer', 'way=left'])
    const { statSync } = await import('node:fs')
    const folder = join(project.runs, workflowOf(project))
    expect(statSync(join(folder, 'journal.jsonl')).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder).sort()).toEqual([
      'answers',
      'artifacts',
      'control',
      'events.jsonl',
      'journal.jsonl',
      'logs',
      'run.json',
      'work',
    ])
  })
})
