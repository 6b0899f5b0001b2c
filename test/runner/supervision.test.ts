import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeClock } from '../support/clock.ts'
import { listNaming } from '../support/processes.ts'
import { last, makeProject } from './support.ts'

const project = makeProject({
  'is-silent.sh': 'plain',
  'chats-on-stderr.py': '',
  'beats.py': '',
  'ignores-requests-to-end.py': 'resources: {grace_ms: 300}',
  'leaves-a-daemon.py': '',
  'ends-when-asked.py': '',
  'forges.py': '',
  'says-nothing-of-a-result.sh': '',
  'contradicts-itself.sh': '',
  'comes-too-late.py': '',
  'is-plain.sh': 'plain\nexit_codes: {ok: 0, fatal_error: 30}',
})

async function run(args: readonly string[], env: { readonly [name: string]: string } = {}) {
  const { status, lines: events } = await project.toolable(['run', ...args], { env })
  const id: string = events[0]?.run_id
  return { status, events, id, log: project.log(id) }
}

describe('the states of a run', () => {
  test('a run says what it is, what its tool says, and how it ended, on stdout and in its log alike [7.record]', async () => {
    const { status, events, log } = await run(['beats', '1'])
    expect(status).toBe(0)
    expect(log).toEqual(events)
    expect(log.map(({ type }) => type)).toEqual([
      'runner_start',
      'start',
      'heartbeat',
      'result',
      'runner_end',
    ])
    expect(log.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
    expect(new Set(log.map(({ attempt, run_id, v }) => `${attempt} ${run_id} ${v}`)).size).toBe(1)
    expect(log[0]).toMatchObject({ tool: 'tools.beats', args: ['1'], timeout_s: 1800, level: 'L3' })
    expect(last(log, 'runner_end')).toMatchObject({ state: 'completed', rc: 0 })
  })

  test('a tool cannot write as the runner, as another run, or after its own end [7.forgery]', async () => {
    const { status, log } = await run(['forges'])
    expect(status).toBe(0)
    expect(log.filter(({ type }) => type === 'diagnostic').map(({ reason }) => reason)).toEqual([
      'forged',
      'forged',
      'forged',
      'late',
    ])
    expect(log.filter(({ type }) => type === 'runner_end')).toHaveLength(1)
    expect(log.filter(({ type }) => type === 'result')).toHaveLength(1)
    expect(last(log, 'start')).toMatchObject({ attempt: 1, seq: 5, run_id: log[0]!['run_id'] })
  })

  test('a protocol tool that ends with 0 and no result has failed [7.no-result]', async () => {
    const { status, log } = await run(['says_nothing_of_a_result'])
    expect(status).toBe(1)
    expect(last(log, 'runner_error')).toMatchObject({ msg: 'the tool ended without a result' })
    expect(last(log, 'runner_end')).toMatchObject({ state: 'failed' })
  })

  test('a result does not count where the exit status says otherwise, and the status passes through [7.contradiction]', async () => {
    const { status, log } = await run(['contradicts_itself'])
    expect(status).toBe(3)
    expect(last(log, 'result')).toBeUndefined()
    expect(last(log, 'diagnostic')).toMatchObject({ reason: 'contradiction' })
  })

  test('the output of a plain program is its log, and its exit status its result; one that its manifest does not know is told [7.plain]', async () => {
    const fine = await run(['is_plain'])
    expect(fine.status).toBe(0)
    expect(fine.log.filter(({ type }) => type === 'log').map(({ msg }) => msg)).toEqual([
      'one',
      'two',
    ])
    expect(last(fine.log, 'result')).toMatchObject({ status: 'ok', exit_status: 0 })
    const odd = await run(['is_plain', '42'])
    expect(odd.status).toBe(42)
    expect(last(odd.log, 'runner_warning')).toMatchObject({
      actual: 42,
      expected_codes: { ok: 0, fatal_error: 30 },
    })
    expect(readFileSync(join(project.run(odd.id), 'logs/stderr.log'), 'utf8')).toBe('careful\n')
    expect(odd.log).toContainEqual(
      expect.objectContaining({ type: 'diagnostic', stream: 'stderr', line: 'careful' }),
    )
  })
})

describe('time', () => {
  function start(args: readonly string[], env: { readonly [name: string]: string } = {}) {
    const clock = makeClock()
    return { running: project.start(['run', ...args], { env: { ...clock.env, ...env } }), clock }
  }

  // The clock of an attempt starts before its tool.
  const hasStarted = (tool: string) =>
    expect.poll(() => listNaming(join(project.folder, 'tools', tool)).length).toBeGreaterThan(0)

  test('a silent program is ended at its deadline [7.deadline]', async () => {
    const { running, clock } = start(['--timeout', '3600', 'is_silent'])
    await hasStarted('is_silent')
    await clock.advance(3599)
    expect(running.child.exitCode).toBeNull()
    await clock.advance(1)
    const { status, lines } = await running.ended
    expect(status).toBe(124)
    expect(last(lines, 'runner_error')).toMatchObject({ code: 'E_DEADLINE' })
    expect(last(lines, 'runner_end')).toMatchObject({
      state: 'failed',
      rc: 124,
      code: 'E_DEADLINE',
    })
  })

  test('a tool that gives no sign of life on stdout is ended, whatever it says on stderr [7.heartbeat]', async () => {
    const { running, clock } = start(['chats_on_stderr'], { HEARTBEAT_GRACE_S: '60' })
    await running.said('"chat"')
    await running.said('still here')
    await clock.advance(60)
    const { status, lines } = await running.ended
    expect(status).toBe(124)
    expect(last(lines, 'runner_end')).toMatchObject({
      state: 'failed',
      rc: 124,
      code: 'E_HEARTBEAT_MISSED',
    })
    expect(lines.filter(({ type }) => type === 'runner_start')).toHaveLength(1)
  })

  test('heartbeats keep a tool alive [7.heartbeat-binds]', async () => {
    const { running, clock } = start(['beats', '8'], { HEARTBEAT_GRACE_S: '60' })
    for (const seq of [3, 5, 7]) {
      await running.said(`"seq":${seq},`)
      await clock.advance(40)
    }
    expect((await running.ended).status).toBe(0)
  })

  test('a plain program owes no heartbeats [7.heartbeat-binds]', async () => {
    const { running, clock } = start(['--timeout', '3600', 'is_silent'], {
      HEARTBEAT_GRACE_S: '60',
    })
    await hasStarted('is_silent')
    await clock.advance(61)
    await clock.advance(3600)
    expect(last((await running.ended).lines, 'runner_end')).toMatchObject({ code: 'E_DEADLINE' })
  })

  test('a result that comes after the deadline is refused and recorded [7.late-result]', async () => {
    const { running, clock } = start(['--timeout', '3600', 'comes_too_late'])
    await running.said('"dawdle"')
    await clock.advance(3600)
    const { status, lines } = await running.ended
    expect(status).toBe(124)
    expect(last(lines, 'result')).toBeUndefined()
    expect(last(lines, 'runner_end')).toMatchObject({ state: 'failed', code: 'E_DEADLINE' })
    expect(lines).toContainEqual(expect.objectContaining({ type: 'diagnostic', reason: 'late' }))
  })
})

describe('the end of a tree', () => {
  test('SIGINT asks the tool to end, which says that it was cancelled [7.cancel]', async () => {
    const running = project.start(['run', 'ends_when_asked'])
    await running.said('"step"')
    running.kill('SIGINT')
    const { status, stdout } = await running.ended
    expect(status).toBe(130)
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.at(-2)).toMatchObject({ type: 'cancelled' })
    expect(events.at(-1)).toMatchObject({ type: 'runner_end', state: 'cancelled', rc: 130 })
  })

  test('what ignores the request is killed, with the child that left its session [7.kill-tree]', async () => {
    const clock = makeClock()
    const running = project.start(['run', 'ignores_requests_to_end'], { env: clock.env })
    await running.said('"step"')
    running.kill('SIGTERM')
    await running.said('refused to end')
    const mine = join(project.folder, 'tools/ignores_requests_to_end')
    expect(listNaming(mine).length).toBeGreaterThan(0)
    await clock.advance(1)
    const { status } = await running.ended
    expect(status).toBe(130)
    expect(listNaming(mine)).toEqual([])
  })

  test('a daemon that keeps stdout open delays nobody and survives nothing [7.daemon]', async () => {
    const { status, id, log } = await run(['leaves_a_daemon'])
    expect(status).toBe(0)
    expect(last(log, 'runner_end')).toMatchObject({ state: 'completed' })
    expect(existsSync(join(project.run(id), 'work', 'daemon'))).toBe(true)
  })
})
