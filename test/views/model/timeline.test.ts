import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTimeline, findIdleRanges } from '../../../src/views/model/timeline.ts'
import {
  createTimeScale,
  getTicks,
  thinMarks,
  zoomRange,
} from '../../../src/views/model/time-scale.ts'
import type { TimelineMark, RunModel, StepModel } from '../../../src/views/model/run-model.ts'

const START = Date.parse('2026-11-16T10:00:00Z')
const at = (seconds: number) => START + seconds * 1000
const mark = (seconds: number, type: string, step?: string): TimelineMark => ({
  at: at(seconds),
  seq: seconds,
  type,
  text: '',
  ...(step !== undefined && { step }),
})
const step = (
  key: string,
  began: number,
  ended: number | undefined,
  more: Partial<StepModel> = {},
): StepModel => ({
  key,
  name: key,
  depth: 0,
  state: ended === undefined ? 'running' : 'ok',
  tries: 1,
  began: at(began),
  ...(ended !== undefined && { ended: at(ended) }),
  spans: [
    {
      from: at(began),
      ...(ended !== undefined && { to: at(ended) }),
      state: ended === undefined ? 'running' : 'ok',
      attempt: 1,
    },
  ],
  ...more,
})
const model = (more: Partial<RunModel>): RunModel => ({
  run_id: 'r-1',
  tool: 'a.b',
  created: at(0),
  seq: 1,
  state: 'running',
  attempt: 1,
  attempts: [],
  steps: [],
  more_steps: 0,
  questions: [],
  tail: [],
  marks: [],
  more_marks: 0,
  silences: [],
  artifacts: 0,
  workflow: false,
  waited_ms: 0,
  counts: { events: 0, warnings: 0, diagnostics: 0, errors: 0, items: 0, by_type: {} },
  ...more,
})

describe('a run over time [10.timeline-rows]', () => {
  test('attempts, steps and children are rows; what is not over reaches to now', () => {
    const timeline = createTimeline(
      model({
        attempts: [
          {
            attempt: 1,
            began: at(1),
            ended: at(4),
            state: 'failed',
            cause: 'first',
            error: { code: 'E_X' },
            spans: [{ from: at(1), to: at(4), state: 'running', attempt: 1 }],
          },
          {
            attempt: 2,
            began: at(6),
            state: 'running',
            cause: 'retry',
            spans: [{ from: at(6), state: 'running', attempt: 2 }],
          },
        ],
        steps: [step('scan', 6, 8, { run_id: 'r-2' }), step('copy', 8, undefined)],
        marks: [mark(2, 'progress'), mark(7, 'artifact', 'scan'), mark(9, 'log', 'unknown')],
      }),
      at(10),
      [
        {
          run_id: 'r-2',
          tool: 'a.scan',
          state: 'completed',
          attempt: 1,
          created: new Date(at(6)).toISOString(),
          questions: 0,
          artifacts: 0,
        },
        {
          run_id: 'r-3',
          tool: 'a.other',
          state: 'running',
          attempt: 1,
          created: new Date(at(9)).toISOString(),
          questions: 0,
          artifacts: 0,
        },
      ],
    )
    expect(
      timeline.rows.map(({ kind, key, state, bars, marks }) => [
        kind,
        key,
        state,
        bars
          .map(
            ({ from, to, open }) =>
              `${(from - START) / 1000}-${(to - START) / 1000}${open ? '…' : ''}`,
          )
          .join(' '),
        marks.map(({ type }) => type).join(' '),
      ]),
    ).toEqual([
      ['attempt', 'attempt 1', 'failed', '1-4', 'progress'],
      ['attempt', 'attempt 2', 'running', '6-10…', 'log'],
      ['step', 'scan', 'ok', '6-8', 'artifact'],
      ['step', 'copy', 'running', '8-10…', ''],
      ['child', 'r-3', 'running', '9-10…', ''],
    ])
    expect(timeline.rows[0]!.bars[0]).toMatchObject({ state: 'failed' })
    expect(timeline).toMatchObject({ from: at(0), to: at(10), now: at(10), more: 0 })
  })

  test('a run that is over ends with its last moment, whenever one looks', () => {
    const over = createTimeline(
      model({
        state: 'completed',
        heard: at(5),
        attempts: [
          { attempt: 1, began: at(1), ended: at(6), state: 'completed', cause: 'first', spans: [] },
        ],
      }),
      at(1000),
    )
    expect(over).toMatchObject({ from: at(0), to: at(6) })
    expect(over).not.toHaveProperty('now')
    expect(over.rows[0]!.bars).toEqual([
      { from: at(1), to: at(6), state: 'completed', open: false },
    ])
  })

  test('hours of waiting for an answer, of pauses and between attempts are idle; work and events are not', () => {
    const waiting = model({
      attempts: [
        {
          attempt: 1,
          began: at(0),
          state: 'waiting_ai',
          cause: 'first',
          spans: [
            { from: at(0), to: at(20), state: 'running', attempt: 1 },
            { from: at(20), state: 'waiting_ai', attempt: 1 },
          ],
        },
      ],
    })
    const [fold, ...others] = createTimeline(waiting, at(7200)).idle
    expect(others).toEqual([])
    expect([fold!.from > at(20) && fold!.from < at(25), fold!.to]).toEqual([true, at(7200)])
    const paused = model({
      attempts: [{ attempt: 1, began: at(0), state: 'running', cause: 'first', spans: [] }],
      steps: [
        step('work', 0, 10),
        step('pause', 10, 3600, { kind: 'wait' }),
        step('more', 3600, 3620),
      ],
      marks: [mark(1800, 'log')],
    })
    expect(
      createTimeline(paused, at(3620)).idle.map(({ from, to }) => [
        from > at(10) && from < at(12) ? 'a' : Math.round((from - START) / 1000),
        Math.round((to - START) / 1000),
      ]),
    ).toEqual([
      ['a', 1799],
      [1801, 3599],
    ])
    expect(
      createTimeline(
        model({
          attempts: [{ attempt: 1, began: at(0), state: 'running', cause: 'first', spans: [] }],
        }),
        at(3600),
      ).idle,
    ).toEqual([])
  })
})

describe('where moments are drawn [10.timeline-scale]', () => {
  const stretches = fc
    .array(fc.tuple(fc.integer({ min: 0, max: 100_000 }), fc.integer({ min: 1, max: 50_000 })), {
      maxLength: 8,
    })
    .map((list) => list.map(([from, length]) => ({ from, to: from + length })))

  test('both ways are monotonous, stay inside, and undo each other, whatever is folded', () => {
    fc.assert(
      fc.property(
        stretches,
        fc.integer({ min: 1, max: 150_000 }),
        fc.integer({ min: 50, max: 3000 }),
        fc.array(fc.integer({ min: 0, max: 150_000 }), { minLength: 2 }),
        (active, length, width, times) => {
          const range = { from: 0, to: length }
          const scale = createTimeScale(range, findIdleRanges(range, active), width)
          const sorted = times
            .map((time) => Math.min(time, length))
            .sort((left, right) => left - right)
          const places = sorted.map((time) => scale.toX(time))
          expect(
            places.every(
              (x, index) => x >= 0 && x <= width && (index === 0 || x >= places[index - 1]! - 1e-6),
            ),
          ).toBe(true)
          for (const [index, x] of places.entries())
            expect(
              Math.abs(scale.toX(scale.toTime(x)) - x) < 0.01 && Number.isFinite(sorted[index]!),
            ).toBe(true)
          expect(scale.toX(0)).toBe(0)
          expect(scale.toX(length)).toBeCloseTo(width, 3)
          expect(scale.pieces.reduce((sum, piece) => sum + piece.width, 0)).toBeCloseTo(width, 3)
        },
      ),
    )
  })

  test('an idle hour takes a few pixels, and the minute beside it the rest', () => {
    const scale = createTimeScale(
      { from: at(0), to: at(3660) },
      [{ from: at(60), to: at(3660) }],
      1000,
    )
    expect(scale.pieces.map(({ folded, width }) => [folded, Math.round(width)])).toEqual([
      [false, 972],
      [true, 28],
    ])
    expect(Math.round(scale.toX(at(30)))).toBe(486)
    expect(Math.round((scale.toTime(486) - START) / 1000)).toBe(30)
  })

  test('ticks are round numbers since the start, apart from each other, outside of folds', () => {
    const scale = createTimeScale(
      { from: at(0), to: at(3660) },
      [{ from: at(60), to: at(3660) }],
      1000,
    )
    expect(getTicks(scale, at(0)).map((time) => (time - START) / 1000)).toEqual([
      0, 10, 20, 30, 40, 50, 60,
    ])
    expect(
      getTicks(createTimeScale({ from: at(0), to: at(0) }, [], 500), at(0)).length,
    ).toBeLessThan(10)
    expect(
      getTicks(createTimeScale({ from: at(0), to: at(400 * 86_400) }, [], 500), at(0)).length,
    ).toBeLessThan(10)
  })

  test('a zoom keeps the moment under the pointer where it is, and never leaves the whole', () => {
    const whole = { from: 0, to: 1000 }
    expect(zoomRange(whole, whole, 250, 0.5)).toEqual({ from: 125, to: 625 })
    expect(zoomRange({ from: 125, to: 625 }, whole, 250, 4)).toEqual(whole)
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999 }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (around, factor) => {
          const { from, to } = zoomRange(
            { from: 200, to: 700 },
            whole,
            Math.min(700, Math.max(200, around)),
            factor,
          )
          expect(from >= 0 && to <= 1000 + 1e-9 && to > from).toBe(true)
        },
      ),
    )
  })

  test('moments that fall on one place are one dot, which shows the weightiest', () => {
    const range = { from: at(0), to: at(100) }
    const dots = thinMarks(
      [
        mark(10, 'log'),
        mark(10.1, 'error'),
        mark(10.2, 'log'),
        mark(50, 'progress'),
        mark(500, 'log'),
      ],
      createTimeScale(range, [], 1000),
      range,
    )
    expect(dots.map(({ mark: { type }, count }) => [type, count])).toEqual([
      ['error', 3],
      ['progress', 1],
    ])
  })
})
