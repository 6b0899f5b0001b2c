import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { lockRun } from '../../src/runner/lock.ts'
import { openEventLog } from '../../src/runner/event-log.ts'
import { eventsOf, makeRun, requestOf, startRunner } from '../runner/record-support.ts'
import { isAlive } from '../support/processes.ts'
import { makeFolder } from '../support/run-program.ts'
import { startToolable, toolable } from './support.ts'

type Event = { readonly type: string; readonly [field: string]: unknown }

// The record of a run, as a runner leaves it.
function record(root: string, number: number, tool: string, ...events: readonly Event[]): string {
  const run_id = `r-${number.toString(16).padStart(10, '0')}`
  const folder = join(root, run_id)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'run.json'), JSON.stringify(requestOf(run_id, { tool })))
  utimesSync(join(folder, 'run.json'), 1_700_000_000 + number, 1_700_000_000 + number)
  writeFileSync(
    join(folder, 'events.jsonl'),
    events
      .map(
        (event, index) =>
          `${JSON.stringify({ v: 1, ts: new Date(1_700_000_000_000 + index * 1500).toISOString(), run_id, seq: index + 1, attempt: 1, ...event })}\n`,
      )
      .join(''),
  )
  return run_id
}

const START = { type: 'runner_start', tool: 'a.b', level: 'L3' }
const completed = [
  START,
  { type: 'progress', pct: 50, msg: 'half way' },
  {
    type: 'result',
    status: 'ok',
    result: { rows: 3 },
    artifacts: [{ path: 'out.txt', sha256: 'abc', bytes: 3 }],
  },
  { type: 'runner_end', state: 'completed', rc: 0 },
]
const failed = [
  START,
  { type: 'error', code: 'E_MINE', msg: 'it \u001b[31mbroke', hint: 'mend it' },
  { type: 'runner_end', state: 'failed', rc: 30, code: 'E_MINE' },
]

describe('toolable runs', () => {
  const project = makeFolder()
  const root = join(project, '.runs')
  const here = { cwd: project }

  beforeAll(() => {
    for (let number = 1; number <= 200; number += 1)
      record(
        root,
        number,
        number % 50 === 0 ? 'demo.rare' : 'demo.often',
        ...(number % 10 === 0 ? failed : completed),
      )
    record(root, 201, 'demo.asks', START, {
      type: 'action_required',
      action: 'choose',
      interaction: { id: 'q1', kind: 'confirm', prompt: 'Go on?' },
    })
    mkdirSync(join(root, 'r-abcdefabcd'))
    writeFileSync(join(root, 'r-0000000005', 'run.json'), '{')
    utimesSync(join(root, 'r-0000000005', 'run.json'), 1, 1)
  })

  test('list gives the newest of many first, and what is asked for [7.runs-list]', async () => {
    const [all, some, broken] = await Promise.all([
      toolable(['runs', 'list'], here),
      toolable(['runs', 'list', '--state', 'failed', '--tool', 'rare', '--limit', '3'], here),
      toolable(['runs', 'list', '--limit', '2000', '--fields', 'runs'], here),
    ])
    expect(all.status).toBe(0)
    expect(all.json.result).toMatchObject({ total: 201, folder: root })
    expect(all.json.result.runs).toHaveLength(50)
    expect(all.json.result.runs.slice(0, 2)).toMatchObject([
      { run_id: 'r-00000000c9', tool: 'demo.asks', state: 'waiting_ai', questions: 1 },
      {
        run_id: 'r-00000000c8',
        tool: 'demo.rare',
        state: 'failed',
        code: 'E_MINE',
        rc: 30,
        duration_s: 3,
      },
    ])
    expect(some.json.result.runs.map(({ run_id }: { run_id: string }) => run_id)).toEqual([
      'r-00000000c8',
      'r-0000000096',
      'r-0000000064',
    ])
    expect(broken.json.result.runs.at(-1)).toMatchObject({
      run_id: 'r-0000000005',
      tool: '?',
      state: 'completed',
    })
  })

  test('list is a table for people [7.runs-list]', async () => {
    const { stdout } = await toolable(['runs', 'list', '--limit', '2', '-o', 'text'], here)
    expect(stdout).toMatch(
      /^run +state +tool +started +duration +last\nr-00000000c9 +waiting_ai +demo\.asks .*(now|ago) .*Go on\?\nr-00000000c8 +failed +demo\.rare .*(now|ago) +3 s  E_MINE it broke\n\nolder runs are not shown: toolable runs list --limit 201\n$/,
    )
    expect((await toolable(['runs', 'list', '-o', 'text'], { cwd: makeFolder() })).stdout).toMatch(
      /^no runs in /,
    )
  })

  test('show sums up one run, by id, beginning or latest [7.runs-show]', async () => {
    const [done, wrong, asks] = await Promise.all([
      toolable(['runs', 'show', 'r-0000000001'], here),
      toolable(['runs', 'show', '00000000c8'], here),
      toolable(['runs', 'show', 'latest'], here),
    ])
    expect(done.json.result).toMatchObject({
      state: 'completed',
      level: 'L3',
      result: { rows: 3 },
      artifacts: [{ path: 'out.txt', sha256: 'abc', bytes: 3 }],
      rc: 0,
      events: 4,
      folder: join(root, 'r-0000000001'),
    })
    expect(done.json.result).not.toHaveProperty('error')
    expect(wrong.json.result).toMatchObject({
      state: 'failed',
      error: { code: 'E_MINE', hint: 'mend it' },
      rc: 30,
    })
    expect(asks.json.result).toMatchObject({
      run_id: 'r-00000000c9',
      state: 'waiting_ai',
      questions: [{ id: 'q1', prompt: 'Go on?' }],
    })
  })

  test('show says in words what to do next, and lets nobody steer the terminal [7.runs-show]', async () => {
    const [wrong, asks] = await Promise.all([
      toolable(['runs', 'show', 'r-00000000c8', '-o', 'text'], here),
      toolable(['runs', 'show', 'latest', '-o', 'text'], here),
    ])
    expect(wrong.stdout).toContain('error     E_MINE it broke (mend it)\n')
    expect(wrong.stdout).toContain('toolable resume r-00000000c8')
    expect(wrong.stdout).not.toContain('\u001b')
    expect(asks.stdout).toContain(
      'asks      Go on?\n  answer    toolable answer r-00000000c9 true\n',
    )
  })

  test('a run that is not there is told apart from what can be no run [7.run-named]', async () => {
    const ended = await Promise.all(
      ['no-such-run', '../../etc', 'r-ffffffffff', 'r-000000000'].map((word) =>
        toolable(['runs', 'show', word], here),
      ),
    )
    expect(
      ended.map(({ status, json }) => [status, json.error.code, json.error.suggestion.fix !== '']),
    ).toEqual([
      [2, 'INVALID_INPUT', true],
      [2, 'INVALID_INPUT', true],
      [66, 'NOT_FOUND', true],
      [2, 'INVALID_INPUT', true],
    ])
  })

  test('logs prints events as JSON lines or words, by type and number, and what went to stderr [7.runs-logs]', async () => {
    mkdirSync(join(root, 'r-0000000001', 'logs'))
    writeFileSync(join(root, 'r-0000000001', 'logs', 'stderr.log'), 'one\ntwo \u001b[2J\nno end')
    const id = 'r-0000000001'
    const [all, some, text, errors, errorText] = await Promise.all([
      toolable(['runs', 'logs', id], here),
      toolable(
        ['runs', 'logs', id, '--type', 'progress', '--type', 'runner_end', '--since', '3'],
        here,
      ),
      toolable(['runs', 'logs', id, '-o', 'text', '--follow'], here),
      toolable(['runs', 'logs', id, '--stderr'], here),
      toolable(['runs', 'logs', id, '--stderr', '-o', 'text'], here),
    ])
    expect(all.lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(some.lines.map(({ type }) => type)).toEqual(['runner_end'])
    expect(text.stdout.split('\n').slice(0, 2)).toEqual([
      '22:13:20  run        a.b · r-0000000001 · L3',
      '22:13:21  50%        half way',
    ])
    expect(errors.lines.map(({ line }) => line)).toEqual(['one', 'two \u001b[2J', 'no end'])
    expect(errorText.stdout).toBe('one\ntwo \nno end\n')
    expect([all, some, text, errors].map(({ status }) => status)).toEqual([0, 0, 0, 0])
  })

  test('logs of a reader that goes away ends [7.runs-logs]', async () => {
    record(
      root,
      2000,
      'demo.long',
      START,
      ...Array.from({ length: 20_000 }, () => ({ type: 'log', msg: 'x'.repeat(100) })),
    )
    const running = startToolable(['runs', 'logs', 'r-00000007d0'], here)
    await running.said('runner_start')
    running.child.stdout.destroy()
    expect((await running.ended).signal).toBe(null)
  })

  test('watch prints everything and ends with the status of the run [7.watch]', async () => {
    const [done, wrong, both, none] = await Promise.all([
      toolable(['watch', 'r-0000000001'], here),
      toolable(['watch', 'r-000000000a', '--since', '3'], here),
      toolable(['watch', 'r-0000000001', 'r-000000000a', '-o', 'text'], here),
      toolable(['watch'], here),
    ])
    expect([done.status, done.lines.length]).toEqual([0, 4])
    expect([wrong.status, wrong.lines.map(({ type }) => type)]).toEqual([30, ['runner_end']])
    expect(both.status).toBe(30)
    expect(both.stdout).toContain('r-000000000a  failed     E_MINE, exit 30')
    expect([none.status, none.json.error.code]).toEqual([2, 'USAGE'])
  })

  test('clean asks first, plans, and removes what is over [7.runs-clean]', async () => {
    const place = makeFolder()
    const runs = join(place, '.runs')
    for (let number = 1; number <= 6; number += 1)
      record(
        runs,
        number,
        'a.b',
        ...(number === 6 ? [START] : number % 2 === 0 ? failed : completed),
      )
    const live = makeRun(runs)
    const clean = (...flags: string[]): ReturnType<typeof toolable> =>
      toolable(['runs', 'clean', ...flags], { cwd: place })
    const [asked, planned, young, wrong] = await Promise.all([
      clean(),
      clean('--state', 'completed', '--keep', '1', '--dry-run'),
      clean('--older-than', '4w', '--state', 'failed', '--dry-run'),
      clean('--older-than', 'soon', '--yes'),
    ])
    expect([asked.status, asked.json.error.code]).toEqual([77, 'CONFIRMATION_REQUIRED'])
    expect(planned.json.result.plan.map(({ target }: { target: string }) => target)).toEqual([
      join(runs, 'r-0000000003'),
      join(runs, 'r-0000000001'),
    ])
    expect(young.json.result.plan).toHaveLength(2)
    expect([wrong.status, wrong.json.error.code]).toEqual([2, 'INVALID_INPUT'])
    expect(readdirSync(runs)).toHaveLength(7)
    const done = await clean('--yes')
    expect(done.json.result).toEqual({
      removed: ['r-0000000005', 'r-0000000004', 'r-0000000003', 'r-0000000002', 'r-0000000001'],
      left: 2,
    })
    expect(readdirSync(runs).sort()).toEqual(['r-0000000006', live.id].sort())
  })
})

describe('a run that is going on', () => {
  test('is followed until it is over, by several, across attempts [7.watch]', async () => {
    const place = makeFolder()
    const paths = makeRun(join(place, '.runs'))
    const lock = lockRun(paths)
    const { log } = await openEventLog(paths.events, { runId: paths.id, attempt: 1 })
    log.append({ type: 'runner_start', tool: 'a.b' })
    await log.flush()
    const watchers = [
      startToolable(['watch', paths.id], { cwd: place }),
      startToolable(['watch', '--all', '-o', 'text'], { cwd: place }),
      startToolable(['runs', 'logs', 'latest', '--follow', '--type', 'runner_end'], { cwd: place }),
    ]
    await Promise.all([watchers[0]!.said('runner_start'), watchers[1]!.said('a.b')])
    log.append({ type: 'runner_end', state: 'failed', rc: 75, code: 'E_RATE_LIMIT' })
    await log.close()
    await watchers[2]!.said('runner_end')
    const again = await openEventLog(paths.events, { runId: paths.id, attempt: 2 })
    again.log.append({ type: 'runner_start', tool: 'a.b' })
    again.log.append({ type: 'runner_end', state: 'completed', rc: 0 })
    await again.log.close()
    lock.release()
    const [lines, words, logs] = await Promise.all(watchers.map(({ ended }) => ended))
    expect([lines, words, logs].map((end) => end?.status)).toEqual([0, 0, 0])
    expect(lines?.lines.map(({ type }) => type)).toEqual([
      'runner_start',
      'runner_end',
      'runner_start',
      'runner_end',
    ])
    expect(words?.stdout).toMatch(/run +a\.b · r-[0-9a-f]{10} · attempt 2/)
    expect(logs?.lines.map(({ state }) => state)).toEqual(['failed', 'completed'])
  })

  test('and whose runner is killed is finished by whoever looks, with all that it left running [7.run-interrupted] [7.watch]', async () => {
    const place = makeFolder()
    const root = join(place, '.runs')
    const runner = startRunner('leaves-a-child.mjs', [root])
    await runner.said('child')
    const watcher = startToolable(['watch', '--all'], { cwd: place })
    await watcher.said('half way')
    const { json } = await toolable(['runs', 'list', '--state', 'running'], { cwd: place })
    expect(json.result.runs).toMatchObject([{ state: 'running', last: 'progress: 50% half way' }])
    runner.kill('SIGKILL')
    const { id, child } = (await runner.ended).lines[0] as { id: string; child: number }
    const watched = await watcher.ended
    expect([watched.status, watched.lines.at(-1)]).toMatchObject([
      1,
      { type: 'runner_end', state: 'failed', code: 'E_INTERRUPTED' },
    ])
    await expect.poll(() => isAlive(child)).toBe(false)
    const shown = await toolable(['runs', 'show', id], { cwd: place })
    expect(shown.json.result).toMatchObject({ state: 'failed', error: { code: 'E_INTERRUPTED' } })
    expect(
      eventsOf(join(root, id, 'events.jsonl')).filter(({ type }) => type === 'runner_end'),
    ).toHaveLength(1)
  })

  test('watching can be broken off, and ends at once where nothing is going on [7.watch]', async () => {
    const place = makeFolder()
    const paths = makeRun(join(place, '.runs'))
    const { log } = await openEventLog(paths.events, { runId: paths.id, attempt: 1 })
    log.append({ type: 'runner_start', tool: 'a.b' })
    await log.close()
    const watcher = startToolable(['watch', 'latest'], { cwd: place })
    const idle = toolable(['watch', '--all'], { cwd: makeFolder() })
    await watcher.said('runner_start')
    watcher.kill('SIGINT')
    const { status, signal } = await watcher.ended
    expect(status === 130 || signal === 'SIGINT').toBe(true)
    expect((await idle).status).toBe(0)
    expect(eventsOf(paths.events)).toHaveLength(1)
  })
})
