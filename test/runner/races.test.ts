import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openEventLog } from '../../src/runner/event-log.ts'
import { makeClock } from '../support/clock.ts'
import { fixture, launch } from '../support/run-program.ts'
import { makeFreeRun, makeRun } from './record-support.ts'
import { last, makeProject } from './support.ts'
import { TOOLABLE_PATH } from '../support/toolable-program.ts'

const project = makeProject({
  'beats.py': '',
  'stops-in-the-middle.py': '',
  'fails-again-and-again.py': '',
  'gives-a-result-and-stays.py': '',
  'asks-twice-by-one-name.py': '',
  'notifies-on-stderr.sh': 'plain',
})
const SLOW = { NODE_OPTIONS: `--require ${fixture('runner/starts-slowly.cjs')}` }

describe('whose a run is', () => {
  test("a detached run is its supervisor's before its id is told, however late that comes [7.hand-over]", async () => {
    const { json } = await project.toolable(['run', '--detach', 'beats', '1'], { env: SLOW })
    const { run_id: id } = json.result
    expect((await project.toolable(['watch', id])).status).toBe(0)
    expect(
      project
        .log(id)
        .filter(({ type }) => type.startsWith('runner_'))
        .map(({ type, attempt }) => [type, attempt]),
    ).toEqual([
      ['runner_start', 1],
      ['runner_end', 1],
    ])
  })

  test('of two who resume a run one gets it, and whoever watches sees the new attempt [7.hand-over]', async () => {
    const {
      lines: [{ run_id: id }],
    } = await project.toolable(['run', 'stops_in_the_middle'])
    expect((await project.toolable(['resume', '--detach', id], { env: SLOW })).status).toBe(0)
    const [second, watched] = await Promise.all([
      project.toolable(['resume', id, '--timeout', '77']),
      project.toolable(['watch', id]),
    ])
    expect(second.json.error.code).toBe('CONFLICT')
    expect(watched.status).toBe(0)
    expect(last(project.log(id), 'runner_start')).toMatchObject({ attempt: 2, timeout_s: 1800 })
  })

  test('a run that is not over and has no lock is finished by whoever acts on it [7.odd-records]', async () => {
    const paths = makeRun(`${project.folder}/.runs`)
    const { log } = await openEventLog(paths.events, { runId: paths.id, attempt: 1 })
    log.append({ type: 'runner_start', tool: 'a.b' })
    await log.close()
    rmSync(paths.lock)
    const { json } = await project.toolable(['cancel', paths.id])
    expect(json.error).toMatchObject({
      code: 'PRECONDITION',
      message: expect.stringContaining('it is failed'),
    })
    expect(project.log(paths.id).at(-1)).toMatchObject({
      type: 'runner_end',
      code: 'E_INTERRUPTED',
    })
  })
})

describe('what comes at the wrong time', () => {
  test('a run that waits for its next attempt can be cancelled [7.cancel-between]', async () => {
    const { json } = await project.toolable([
      'run',
      '--detach',
      '--retries',
      '9',
      'fails_again_and_again',
    ])
    const { run_id: id } = json.result
    await expect
      .poll(() =>
        project
          .log(id)
          .some(({ attempt, retry_in_s }) => attempt === 2 && retry_in_s !== undefined),
      )
      .toBe(true)
    const cancelled = await project.toolable(['cancel', id])
    expect(cancelled.json.result).toEqual({ run_id: id, state: 'cancelled' })
    expect(project.log(id).at(-1)).toMatchObject({
      type: 'runner_end',
      state: 'cancelled',
      rc: 130,
    })
  })

  test('a result of a tool that had to be ended does not count, and is on record [7.overruled]', async () => {
    const clock = makeClock()
    const running = project.start(['run', '--timeout', '3600', 'gives_a_result_and_stays'], {
      env: clock.env,
    })
    await running.said('"stay"')
    await clock.advance(3600)
    const { status, lines } = await running.ended
    expect(status).toBe(124)
    expect(lines.map(({ type }) => type)).toEqual([
      'runner_start',
      'start',
      'diagnostic',
      'runner_error',
      'runner_end',
    ])
    expect(last(lines, 'diagnostic')).toMatchObject({
      reason: 'overruled',
      refused: { type: 'result', metrics: { rows: 7 } },
    })
  })

  test('answers belong to one question each, whoever gives them, and one that does not fit is told [7.answers-apart]', async () => {
    const running = project.start(['run', 'asks_twice_by_one_name'], { input: 'open' })
    await running.said('"The first way?"')
    running.write('{"id":"q1","value":"up"}\n')
    await running.said('must be one of left, right')
    expect((await project.toolable(['answer', 'latest', 'left'])).json.result).toMatchObject({
      question: 'q1',
      value: 'left',
    })
    await running.said('"The second way?"')
    running.write('{"id":"q1-2","value":"right"}\n')
    const { status, lines } = await running.ended
    expect(status).toBe(0)
    expect(lines.flatMap(({ answer }) => (answer ? [[answer.id, answer.by]] : []))).toEqual([
      ['q1', 'answer file'],
      ['q1-2', 'stdin'],
    ])
    expect(last(lines, 'result')!['metrics']).toEqual({ answers: ['left', 'right'] })
  })

  test('a notification on stderr does not make a plain program owe heartbeats [7.told-beside]', async () => {
    const { status, lines } = await project.toolable(['run', 'notifies_on_stderr'], {
      env: { HEARTBEAT_GRACE_S: '0.5' },
    })
    expect([status, last(lines, 'progress')?.['pct']]).toEqual([0, 50])
  })

  test('watch that is interrupted exits with 130 [7.watch]', async () => {
    const paths = makeRun(`${project.folder}/.runs`)
    const { log } = await openEventLog(paths.events, { runId: paths.id, attempt: 1 })
    log.append({ type: 'runner_start', tool: 'a.b' })
    await log.close()
    const watching = project.start(['watch', paths.id])
    await watching.said('runner_start')
    watching.kill('SIGINT')
    expect(await watching.ended).toMatchObject({ status: 130, signal: null })
  })
})

describe('a record that falls behind', () => {
  test('or is lost ends the tool at once, and the run is finished later [7.record-lost]', async () => {
    const unconfined = makeProject({ 'floods.py': 'orchestrator: true' })
    const { status, lines } = await launch(
      '/bin/sh',
      [
        '-c',
        'trap "" XFSZ; exec prlimit --fsize=12000 "$@"',
        'sh',
        process.execPath,
        TOOLABLE_PATH,
        'run',
        '--no-cache',
        'floods',
        '100000000',
      ],
      { cwd: unconfined.folder },
    ).ended
    expect(status).not.toBe(0)
    const { json } = await unconfined.toolable(['runs', 'show', lines[0].run_id])
    // There was no room for the end.
    expect(json.result).toMatchObject({ state: 'failed', error: { code: 'E_INTERRUPTED' } })
    expect(json.result.events).toBeGreaterThan(20)
  })

  test('because its reader has stopped does not delay the deadline [7.slow-reader]', async () => {
    const flooded = makeProject({ 'floods.py': '' })
    const clock = makeClock()
    const running = flooded.start(['run', '--timeout', '3600', 'floods', '100000000'], {
      env: clock.env,
    })
    await running.said('"flood"')
    running.child.stdout.pause()
    await clock.advance(3600)
    // A pipe that waited for its reader would wait until the test moves the clock again.
    await expect
      .poll(() => readFileSync(join(flooded.run(), 'events.jsonl'), 'utf8').slice(-300))
      .toContain('"code":"E_DEADLINE","duration_s"')
    running.kill('SIGKILL')
    await running.ended
  })
})

test('links, pipes and folders in the place of records hold nobody up [7.odd-records]', async () => {
  const odd = makeProject({ 'beats.py': '' })
  const root = join(odd.folder, '.runs')
  const put: readonly ((file: string) => unknown)[] = [
    (file) => execFileSync('mkfifo', [file]),
    (file) => mkdirSync(file),
    (file) => symlinkSync('/dev/zero', file),
  ]
  const broken = ['events', 'request', 'lock'].flatMap((name) =>
    put.map((make) => {
      const paths = makeFreeRun(root)
      rmSync(paths[name as 'events'], { force: true })
      make(paths[name as 'events'])
      return paths.id
    }),
  )
  const {
    status,
    lines: [{ run_id: id }],
  } = await odd.toolable(['run', 'beats', '0'])
  expect(status).toBe(0)
  const { json } = await odd.toolable(['runs', 'list', '--json'])
  expect(json.result.runs.find((run: { run_id: string }) => run.run_id === id)).toMatchObject({
    state: 'completed',
  })
  for (const [index, code] of [
    [0, 'INTERNAL'],
    [3, 'CONFIG'],
    [6, 'CONFLICT'],
  ] as const)
    expect((await odd.toolable(['resume', broken[index]!])).json.error.code).toBe(code)
})
