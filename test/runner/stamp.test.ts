import { describe, expect, test } from 'vitest'
import { stampEvent, createStamp } from '../../src/runner/event-stamp.ts'

const place = createStamp('r-0123456789', 't-1', 2)
const own = { v: 1, type: 'log', ts: '2026-01-01T00:00:00Z', run_id: 'r-0123456789' }
const lineOf = (event: object, text?: string): Record<string, unknown> & { line: string } => {
  const { event: told, line } = stampEvent(event as never, 7, place, text)
  const read = JSON.parse(line) as Record<string, unknown>
  expect(told).toEqual(read)
  return { ...read, line }
}

describe('a line of the record', () => {
  test('says which run, attempt and number it is, whatever the tool said of them [7.log-stamped]', () => {
    expect(
      lineOf({
        type: 'log',
        run_id: 'r-ffffffffff',
        seq: 1,
        attempt: 9,
        v: 2,
        ts: 'yesterday',
        msg: 'a',
      }),
    ).toMatchObject({
      v: 1,
      type: 'log',
      run_id: 'r-0123456789',
      trace_id: 't-1',
      seq: 7,
      attempt: 2,
      msg: 'a',
      ts: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(lineOf({ type: 'runner_log', message: 'b' }).line).toMatch(
      /^\{"v":1,"type":"runner_log","ts":"[^"]+","run_id":"r-0123456789","trace_id":"t-1","message":"b","seq":7,"attempt":2\}\n$/,
    )
  })

  test('keeps time and trace of the tool where they are valid [7.log-stamped]', () => {
    expect(lineOf({ ...own, trace_id: 'mine' })).toMatchObject({ ts: own.ts, trace_id: 'mine' })
    expect(lineOf({ ...own, ts: '2026-01-01 00:00', trace_id: 5 })).toMatchObject({
      ts: expect.stringMatching(/T.*Z$/),
      trace_id: 't-1',
    })
  })

  test("is the tool's own text where nothing in it is ours to say [7.log-stamped]", () => {
    const text = `{"msg":"a\\n", "n": 12345678901234567890,"v":1,"type":"log","ts":"${own.ts}","run_id":"${own.run_id}"}`
    expect(lineOf(JSON.parse(text) as object, text).line).toBe(
      `${text.slice(0, -1)},"trace_id":"t-1","seq":7,"attempt":2}\n`,
    )
  })

  test.each([
    [
      'a key of ours twice',
      `{"v":1,"type":"runner_end","type":"log","ts":"${own.ts}","run_id":"${own.run_id}"}`,
    ],
    [
      'the same in disguise',
      `{"v":1,"\\u0074ype":"runner_end","type":"log","ts":"${own.ts}","run_id":"${own.run_id}"}`,
    ],
    [
      'all in disguise',
      `{"\\u0076":1,"t\\u0079pe":"runner_end","type":"log","\\u0074s":"${own.ts}","run_\\u0069d":"${own.run_id}"}`,
    ],
    [
      'a number of its own',
      `{"v":1,"type":"log","ts":"${own.ts}","run_id":"${own.run_id}","seq":1}`,
    ],
    ['space around it', ` {"v":1,"type":"log","ts":"${own.ts}","run_id":"${own.run_id}"} `],
  ])('is written anew where the text has %s [7.log-stamped]', (_what, text) => {
    const { line, ...event } = lineOf(JSON.parse(text) as object, text)
    expect(event).toEqual({ ...own, trace_id: 't-1', seq: 7, attempt: 2 })
    for (const name of ['v', 'type', 'seq']) expect(line.split(`"${name}"`)).toHaveLength(2)
    expect(line).not.toContain('runner_end')
  })

  test('can be made of anything [7.log-stamped]', () => {
    const circle: Record<string, unknown> = { type: 'log' }
    circle['self'] = circle
    expect(JSON.parse(stampEvent(circle as never, 1, place).line)).toMatchObject({
      type: 'log',
      problem: expect.any(String),
      seq: 1,
    })
    expect(JSON.parse(stampEvent({ type: 'log', big: 1n }, 1, place).line)).toMatchObject({
      problem: expect.any(String),
    })
    expect(JSON.parse(stampEvent(Object.freeze({ ...own }), 1, place).line)).toMatchObject({
      seq: 1,
    })
    const { line } = stampEvent(
      JSON.parse('{"type":"log","__proto__":{"polluted":true},"toString":1}') as never,
      1,
      place,
    )
    expect(line).toContain('"__proto__":{"polluted":true},"toString":1')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
