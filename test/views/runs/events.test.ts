import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeRoot } from '../../runner/record-support.ts'
import { makeLongRun, writeRun } from '../support/make-runs.ts'
import { look, query, untilEnd } from './support.ts'

const EVENTS = 100_000

describe('a run with a hundred thousand events', () => {
  const root = makeRoot()
  let id = ''
  beforeAll(() => {
    id = makeLongRun(root, { events: EVENTS })
  })

  test('shows any page of them [10.run-events]', async () => {
    const source = look(root)
    const first = await source.events(id, query())
    expect(first).toMatchObject({ total: EVENTS, matching: EVENTS, next: 201 })
    expect(first.events).toHaveLength(200)
    expect(first.events[0]).toMatchObject({ seq: 1, type: 'runner_start' })
    for (const from of [90_000, 499, 500, 501, 99_999, 50_250]) {
      const { events, next } = await source.events(id, query(`from=${from}&limit=3`))
      expect(events.map(({ seq }) => seq)).toEqual(
        [from, from + 1, from + 2].filter((seq) => seq <= EVENTS),
      )
      expect(next).toBe(from + 3 <= EVENTS ? from + 3 : undefined)
    }
    const tail = await source.events(id, query(`before=${EVENTS + 1}&limit=2`))
    expect(tail.events.map(({ type }) => type)).toEqual(['result', 'runner_end'])
    expect(tail).not.toHaveProperty('next')
    expect(
      (await source.events(id, query('before=11&limit=100'))).events.map(({ seq }) => seq),
    ).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await source.events(id, query('from=200000'))).toMatchObject({
      events: [],
      total: EVENTS,
    })
    expect(await source.events(id, query('before=1'))).toMatchObject({ events: [], next: 1 })
    await expect(source.events(id, query('from=x'))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      field: 'from',
    })
  })

  test('shows those that fit a filter, and how many there are [10.run-events]', async () => {
    const source = look(root)
    const odd = await source.events(id, query('level=warn&limit=60'))
    expect(odd).toMatchObject({ matching: 99, total: EVENTS, next: 61_000 })
    expect(odd.events.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 60 }, (_, index) => (index + 1) * 1000),
    )
    expect(
      (await source.events(id, query(`level=warn&from=${odd.next}&limit=60`))).events.map(
        ({ seq }) => seq,
      ),
    ).toEqual(Array.from({ length: 39 }, (_, index) => (index + 61) * 1000))
    expect(
      (await source.events(id, query('level=warn&before=5000&limit=2'))).events.map(
        ({ seq }) => seq,
      ),
    ).toEqual([3000, 4000])
    expect((await source.events(id, query('text=row+77777'))).events).toMatchObject([
      { seq: 77_777 },
    ])
    expect((await source.events(id, query('type=heartbeat,result'))).matching).toBe(
      EVENTS / 100 + 1,
    )
    expect((await source.events(id, query('step=check&type=log'))).matching).toBe(99)
    const at = (await source.events(id, query('from=500&limit=1'))).events[0]!['ts'] as string
    expect((await source.events(id, query(`until=${at}`))).matching).toBe(500)
    expect(
      (await source.events(id, query(`since=${at}&until=${at}`))).events.map(({ seq }) => seq),
    ).toEqual([500])
    expect(await source.events(id, query('text=nobody+says+this'))).toMatchObject({
      events: [],
      matching: 0,
    })
  })

  test('is drawn, and followed from any place [10.run-detail] [10.run-events]', async () => {
    const source = look(root)
    const { model, row, command } = await source.detail(id)
    expect(model).toMatchObject({
      seq: EVENTS,
      state: 'completed',
      counts: { events: EVENTS, warnings: 99 },
    })
    expect(row).toMatchObject({ state: 'completed', last: `{"rows":${EVENTS}}` })
    expect(command).toBe('toolable run data.import')
    for await (const events of source.follow(id, EVENTS - 5, untilEnd())) {
      expect(events.map(({ seq }) => seq)).toEqual([99_996, 99_997, 99_998, 99_999, 100_000])
      break
    }
  })

  test('that grow are read on from where they ended, and what is cut is forgotten [10.run-events]', async () => {
    const other = makeLongRun(root, { id: 'r-eeeeeeeeee', events: 1200 })
    const file = join(root, other, 'events.jsonl')
    const source = look(root)
    expect((await source.events(other, query('type=log'))).total).toBe(1200)
    expect((await source.detail(other)).model.seq).toBe(1200)
    appendFileSync(
      file,
      `${JSON.stringify({ v: 1, type: 'log', ts: '2026-01-01T00:00:00Z', run_id: other, msg: 'x'.repeat(600_000), seq: 1201, attempt: 1 })}\n{"v":1,"type":"log","half`,
    )
    expect(await source.events(other, query('from=1200'))).toMatchObject({
      total: 1201,
      events: [{ seq: 1200 }, { seq: 1201, too_large: expect.any(Number) }],
    })
    expect((await source.events(other, query('type=log&from=1201'))).events).toMatchObject([
      { seq: 1201 },
    ])
    expect((await source.detail(other)).model.seq).toBe(1201)
    writeFileSync(
      file,
      `${JSON.stringify({ v: 1, type: 'runner_start', ts: '2026-01-01T00:00:00Z', run_id: other, seq: 1, attempt: 1 })}\n`,
    )
    expect(await source.events(other, query())).toMatchObject({ total: 1, events: [{ seq: 1 }] })
    expect((await source.detail(other)).model.seq).toBe(1)
  })
})

describe('the logs of a run', () => {
  test('are read by line numbers, also from the end [10.run-logs]', async () => {
    const root = makeRoot()
    const lines = Array.from({ length: 3000 }, (_, index) => `line ${index + 1}`)
    const id = writeRun(root, {
      id: 'r-1111111111',
      tool: 'a.b',
      created: Date.now(),
      said: [{ type: 'runner_start' }, { type: 'runner_end', state: 'completed', rc: 0 }],
      stderr: `${lines.join('\n')}\n${'y'.repeat(20_000)}\r\nno end`,
    })
    const source = look(root)
    expect(await source.log(id, query('limit=2'))).toEqual({
      lines: ['line 1', 'line 2'],
      first: 1,
      total: 3002,
    })
    expect(await source.log(id, query('from=1501&limit=2'))).toEqual({
      lines: ['line 1501', 'line 1502'],
      first: 1501,
      total: 3002,
    })
    expect(await source.log(id, query('from=-1'))).toEqual({
      lines: ['no end'],
      first: 3002,
      total: 3002,
    })
    const end = await source.log(id, query('from=-3'))
    expect(end).toMatchObject({ first: 3000, total: 3002, cut: expect.any(Number) })
    expect(end.lines.map((line) => line.length)).toEqual([
      'line 3000'.length,
      16 * 1024,
      'no end'.length,
    ])
    expect(await source.log(id, query('from=9999'))).toMatchObject({ lines: [], total: 3002 })
    expect(await source.log(id, query('file=runner'))).toEqual({ lines: [], first: 1, total: 0 })
    await expect(source.log(id, query('file=../run.json'))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      field: 'file',
    })
    mkdirSync(join(root, id, 'logs', 'runner.log'))
    await expect(source.log(id, query('file=runner'))).rejects.toMatchObject({ code: 'INTERNAL' })
  })
})
