import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lockRun } from '../../../src/runner/lock.ts'
import { openEventLog } from '../../../src/runner/event-log.ts'
import { makeRoot, makeRun } from '../../runner/record-support.ts'
import { makeProject } from '../../runner/support.ts'
import '../../support/without-coverage.ts'
import { makeRuns } from '../support/make-runs.ts'
import { listen, look, query } from './support.ts'

const HERE = 'permissions: {}\n'

describe('runs of other processes', () => {
  test('come, ask, are answered, end, and go, and each of it is news [10.index-live] [10.run-decisions]', async () => {
    const project = makeProject({ 'asks.py': HERE })
    const root = join(project.folder, '.runs')
    const source = look(root)
    const heard = listen(source)
    expect(await source.list(query())).toMatchObject({ rows: [], total: 0, complete: true })
    const { status, json } = await project.toolable(['run', '--detach', 'asks'])
    expect(status).toBe(0)
    const id: string = json.result.run_id
    const waits = await heard.until(id, ({ state }) => state === 'waiting_ai')
    expect(waits).toMatchObject({ tool: 'tools.asks', questions: 1, attempt: 1, grace_s: 90 })
    expect(waits).not.toHaveProperty('deadline')
    const { open, past } = await source.decisions()
    expect(past).toEqual([])
    expect(open).toMatchObject([
      {
        run_id: id,
        tool: 'tools.asks',
        run_state: 'waiting_ai',
        question: {
          id: 'q1',
          prompt: 'Which way?',
          options: [{ value: 'left' }, { value: 'right' }],
        },
      },
    ])
    expect(Date.parse(open[0]!.deadline!) - Date.parse(open[0]!.asked)).toBe(24 * 3600 * 1000)
    expect(await source.detail(id)).toMatchObject({
      can: { cancel: true, resume: false, retry: false, answer: true },
      model: { state: 'waiting_ai' },
    })

    expect((await project.toolable(['answer', id, 'right'])).status).toBe(0)
    const done = await heard.until(id, ({ state }) => state === 'completed')
    expect(done).toMatchObject({ questions: 0 })
    expect(await source.decisions()).toMatchObject({
      open: [],
      past: [
        { run_id: id, run_state: 'completed', answered: { by: 'answer file', value: 'right' } },
      ],
    })
    expect(heard.pieces.at(-1)!.news).toMatchObject({
      counts: { completed: 1, waiting_ai: 0 },
      open: 0,
      total: 1,
    })
    const states = heard.states(id)
    // What lasted only a moment may not have been seen.
    expect(states.filter((state) => state !== 'running').slice(-2)).toEqual([
      'waiting_ai',
      'completed',
    ])

    expect((await project.toolable(['runs', 'clean', '--yes'])).status).toBe(0)
    expect(await heard.untilPiece(({ removed }) => removed.includes(id))).toMatchObject({
      total: 0,
    })
    await expect(source.detail(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('that are resumed are live again, and whoever followed the run sees the next attempt [10.index-live] [10.run-events]', async () => {
    const project = makeProject({ 'stops-in-the-middle.py': HERE })
    const root = join(project.folder, '.runs')
    expect((await project.toolable(['run', 'stops_in_the_middle'])).status).toBe(30)
    const source = look(root)
    const {
      rows: [row],
    } = await source.list(query())
    expect(row).toMatchObject({
      state: 'failed',
      code: 'E_UNKNOWN',
      message: 'died at item 4',
      attempt: 1,
    })
    const heard = listen(source)
    const stop = new AbortController()
    const told: string[] = []
    const following = (async () => {
      for await (const events of source.follow(row!.run_id, 1, stop.signal)) {
        for (const event of events) told.push(`${event.seq} ${event.attempt} ${event.type}`)
        if (events.some(({ type, attempt }) => type === 'runner_end' && attempt === 2)) stop.abort()
      }
    })()
    expect((await project.toolable(['resume', row!.run_id])).status).toBe(0)
    expect(await heard.until(row!.run_id, ({ state }) => state === 'completed')).toMatchObject({
      attempt: 2,
      artifacts: 1,
    })
    expect(heard.states(row!.run_id)).toContain('running')
    await following
    expect(told).toEqual(
      project
        .log()
        .slice(1)
        .map(({ seq, attempt, type }) => `${seq} ${attempt} ${type}`),
    )
    const detail = await source.detail(row!.run_id)
    expect(detail).toMatchObject({
      model: { attempts: [{ state: 'failed' }, { state: 'completed', cause: 'resume' }] },
      artifacts: [{ name: 'done', kept: true, bytes: 20 }],
      can: { cancel: false, resume: false, retry: true },
    })
    expect(await source.verify(row!.run_id, 0)).toMatchObject({
      state: 'same',
      sha256: detail.artifacts[0]!.sha256,
    })
  })

  test('whose runner is killed are finished while somebody looks on [10.index-interrupted]', async () => {
    const project = makeProject({ 'beats.py': HERE })
    const source = look(join(project.folder, '.runs'))
    const heard = listen(source)
    const running = project.start(['run', 'beats', '400'])
    await running.said('heartbeat')
    const id = basename(project.run())
    const live = await heard.until(
      id,
      ({ state, last }) => state === 'running' && last !== undefined,
    )
    expect(Date.parse(live.deadline!) - Date.parse(live.started!)).toBe(1800 * 1000)
    expect(live).toMatchObject({ grace_s: 90, heard: expect.any(String) })
    running.kill('SIGKILL')
    expect(await heard.until(id, ({ state }) => state === 'failed')).toMatchObject({
      code: 'E_INTERRUPTED',
    })
    expect(project.log().at(-1)).toMatchObject({ type: 'runner_end', code: 'E_INTERRUPTED' })
    expect(await source.detail(id)).toMatchObject({
      go_on: `toolable resume ${id}`,
      can: { resume: true },
    })
  })

  test('that nobody finished before are finished when it is opened, also without a lock [10.index-interrupted]', async () => {
    const root = makeRoot()
    const ids = makeRuns(root, { count: 2 })
    for (const id of ids)
      writeFileSync(
        join(root, id, 'events.jsonl'),
        `${JSON.stringify({ v: 1, type: 'runner_start', ts: '2026-01-01T00:00:00.000Z', run_id: id, seq: 1, attempt: 1 })}\n`,
      )
    writeFileSync(join(root, ids[0]!, 'lock'), '')
    const source = look(root)
    await expect
      .poll(async () =>
        (await source.list(query())).rows.map(({ state, code }) => `${state} ${code}`),
      )
      .toEqual(['failed E_INTERRUPTED', 'failed E_INTERRUPTED'])
  })
})

describe('what is in the folder', () => {
  test('is shown as far as it goes, and what is damaged hides nothing [10.index-damaged]', async () => {
    const root = makeRoot()
    const ids = makeRuns(root, { count: 5 })
    writeFileSync(join(root, ids[1]!, 'run.json'), '{')
    writeFileSync(join(root, ids[2]!, 'events.jsonl'), 'no event\n{"type":1}\n\u0000')
    rmSync(join(root, ids[3]!, 'events.jsonl'))
    mkdirSync(join(root, ids[3]!, 'events.jsonl'))
    mkdirSync(join(root, 'r-abcdefabcd'))
    writeFileSync(join(root, 'r-000000000a'), 'a file')
    writeFileSync(join(root, 'else'), '')
    const source = look(root)
    const { rows } = await source.list(query())
    expect(rows.map(({ run_id }) => run_id).sort()).toEqual([...ids].sort())
    expect(rows.find(({ run_id }) => run_id === ids[1])).toMatchObject({ tool: '?' })
    expect(await source.detail(ids[1]!)).toMatchObject({ row: { tool: '?' }, command: '' })
    // Nothing can be written into a record that is a folder, so that it stays what it is.
    await expect
      .poll(async () => (await source.list(query())).rows.find(({ run_id }) => run_id === ids[2]))
      .toMatchObject({ state: 'failed' })
    for (const id of ['r-abcdefabcd', 'r-000000000a', '../../etc', 'latest', ''])
      await expect(source.detail(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('may come later, as a whole [10.index-live]', async () => {
    const root = makeRoot()
    const source = look(root)
    const heard = listen(source)
    expect(await source.list(query())).toMatchObject({ total: 0, complete: true })
    makeRuns(root, { count: 1200 })
    const rows = new Set<string>()
    await heard.untilPiece(({ total, rows: some }) => total === 1200 && some.length >= 0)
    await expect
      .poll(() => {
        for (const { news } of heard.pieces) for (const { run_id } of news.rows) rows.add(run_id)
        return rows.size
      })
      .toBe(1200)
    expect(Math.max(...heard.pieces.map(({ news }) => news.rows.length))).toBeLessThanOrEqual(500)
  })
})

describe('a flood of events', () => {
  test('is told in few pieces, and loses none for whoever follows the run [10.index-live] [10.run-events]', async () => {
    const paths = makeRun()
    const root = join(paths.folder, '..')
    const lock = lockRun(paths)
    const { log } = await openEventLog(paths.events, { runId: paths.id, attempt: 'next' })
    const source = look(root)
    await source.list(query())
    const heard = listen(source)
    const seqs: number[] = []
    let pieces = 0
    const stop = new AbortController()
    const following = (async () => {
      for await (const events of source.follow(paths.id, 0, stop.signal)) {
        pieces += 1
        for (const { seq } of events) seqs.push(seq)
        if (events.some(({ type }) => type === 'runner_end')) stop.abort()
      }
    })()
    log.append({ type: 'runner_start', tool: 'a.b' })
    const COUNT = 50_000
    const began = performance.now()
    for (let at = 1; at <= COUNT; at += 1) {
      log.append({ type: 'progress', pct: (at / COUNT) * 100, step: 'flood', msg: `line ${at}` })
      if (at % 2000 === 0) await log.flush()
    }
    log.append({ type: 'result', status: 'ok' })
    log.append({ type: 'runner_end', state: 'completed', rc: 0 })
    await log.close()
    lock.release()
    await heard.until(paths.id, ({ state }) => state === 'completed')
    const seconds = (performance.now() - began) / 1000
    await following
    expect(seqs).toEqual(Array.from({ length: COUNT + 3 }, (_, index) => index + 1))
    expect(pieces).toBeGreaterThan(COUNT / 1000)
    // About twenty a second at most, and what a busy machine does to a clock.
    expect(heard.pieces.length).toBeLessThan(25 * seconds + 10)
    expect(
      heard.pieces.every(
        ({ version }, index) => index === 0 || version > heard.pieces[index - 1]!.version,
      ),
    ).toBe(true)
  })

  test('news goes on where somebody left off, and a version of the future is none [10.index-live]', async () => {
    const root = makeRoot()
    const ids = makeRuns(root, { count: 3 })
    const source = look(root)
    await source.list(query())
    const heard = listen(source)
    const { version } = await expect
      .poll(() => heard.pieces.at(-1))
      .toBeDefined()
      .then(() => heard.pieces.at(-1)!)
    const [added] = makeRuns(root, { count: 1, seed: 2 })
    await heard.until(added!, () => true)
    rmSync(join(root, ids[0]!), { recursive: true })
    await heard.untilPiece(({ removed }) => removed.includes(ids[0]!))
    const again = listen(source, version)
    expect(
      await again.untilPiece(({ rows, removed }) => rows.length > 0 && removed.length > 0),
    ).toMatchObject({ removed: [ids[0]], total: 3 })
    expect(again.pieces[0]!.news.rows.map(({ run_id }) => run_id)).toEqual([added])
    const future = listen(source, 1e9)
    expect(await future.untilPiece(() => true)).toMatchObject({ rows: [], removed: [], total: 3 })
  })
})
