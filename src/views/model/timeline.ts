/**
 * A run over time: rows with bars and marks, and the idle ranges between them.
 */

import { isFinished } from '../../protocol/run-state.ts'
import type { RunState } from '../../protocol/run-state.ts'
import { compact } from '../../util/values.ts'
import type { RunRow } from './api.ts'
import type {
  AttemptModel,
  RunModel,
  StateSpan,
  StepModel,
  StepState,
  TimelineMark,
} from './run-model.ts'

/**
 * A run as rows over time. What is not over reaches to `now`; children that are the run of a step
 * are in its row already.
 */
export function createTimeline(
  model: RunModel,
  now: number,
  children: readonly RunRow[] = [],
): Timeline {
  const over = isFinished(model.state)
  const end = over ? getLastMoment(model) : Math.max(now, getLastMoment(model))
  const marks = groupMarks(model.marks, new Set(model.steps.map(({ key }) => key)))
  const ofSteps = new Set(model.steps.flatMap((step) => step.run_id ?? []))
  const rows = [
    ...model.attempts.map((attempt): TimelineRow =>
      compact({
        key: `attempt ${attempt.attempt}`,
        kind: 'attempt',
        name: `attempt ${attempt.attempt}`,
        depth: 0,
        state: attempt.state,
        bars: toBars(toOutcomeSpans(attempt.spans, attempt, attempt.attempt), end),
        marks: (marks.get('') ?? []).filter((mark) =>
          isWithin(mark.at, attempt.began, attempt.ended ?? end),
        ),
        error: attempt.error ? attempt.error.code : undefined,
      }),
    ),
    ...model.steps.map((step) => toStepRow(step, marks.get(step.key) ?? [], end)),
    ...children
      .filter((child) => !ofSteps.has(child.run_id))
      .map((child) => toChildRow(child, end)),
  ]
  const range = {
    from: Math.min(model.created, ...rows.flatMap(({ bars }) => bars.map(({ from }) => from))),
    to: end,
  }
  return {
    ...range,
    rows,
    silences: model.silences,
    idle: findIdleRanges(range, findActiveRanges(model, rows)),
    ...compact({ now: !over ? now : undefined }),
    more: model.more_steps + model.more_marks,
  }
}

// What is over is drawn as it came out, but for the time that it waited.
function toOutcomeSpans(
  spans: readonly StateSpan[],
  { began, ended, state }: Pick<AttemptModel | StepModel, 'began' | 'ended' | 'state'>,
  attempt: number,
): readonly StateSpan[] {
  if (spans.length === 0)
    return began === undefined ? [] : [compact({ from: began, to: ended, state, attempt })]
  return ended === undefined
    ? spans
    : spans.map((span) =>
        span.state === 'running' && span.attempt === attempt ? { ...span, state } : span,
      )
}

function toStepRow(step: StepModel, marks: readonly TimelineMark[], end: number): TimelineRow {
  const { key, name, depth, state, run_id, error } = step
  return compact({
    key,
    kind: 'step',
    name,
    depth: depth + 1,
    state,
    bars: toBars(toOutcomeSpans(step.spans, step, step.spans.at(-1)?.attempt ?? step.tries), end),
    marks,
    run_id,
    error,
  })
}

function toChildRow(
  { run_id, tool, state, created, started, ended, code }: RunRow,
  end: number,
): TimelineRow {
  const from = Date.parse(started ?? created)
  return compact({
    key: run_id,
    kind: 'child',
    name: tool,
    depth: 1,
    state,
    bars: toBars(
      [
        compact({
          from,
          to: ended !== undefined ? Date.parse(ended) : undefined,
          state,
          attempt: 1,
        }),
      ],
      end,
    ),
    marks: [],
    run_id,
    error: code,
  })
}

function toBars(spans: readonly StateSpan[], end: number): readonly TimelineBar[] {
  return spans.map(({ from, to, state }) => ({
    from,
    to: Math.max(from, to ?? end),
    state,
    open: to === undefined,
  }))
}

// Where steps are known, a run does something while one of them does; a pause is a step that does
// nothing.
function findActiveRanges(
  { steps, marks }: RunModel,
  rows: readonly TimelineRow[],
): readonly TimeRange[] {
  const holders = new Set(steps.flatMap(({ parent }) => parent ?? []))
  const resting = new Set(
    steps.filter(({ key, kind }) => kind === 'wait' || holders.has(key)).map(({ key }) => key),
  )
  const working = rows.filter(({ kind, key }) =>
    steps.length > 0 ? kind !== 'attempt' && !resting.has(key) : kind === 'attempt',
  )
  return [
    ...working.flatMap(({ bars }) =>
      bars.filter(
        ({ state }) =>
          state !== 'waiting' &&
          state !== 'waiting_ai' &&
          state !== 'pending' &&
          state !== 'queued',
      ),
    ),
    ...rows.flatMap(({ bars }) =>
      bars.flatMap(({ from, to }) => [
        { from, to: from },
        { from: to, to },
      ]),
    ),
    ...marks.map(({ at }) => ({ from: at, to: at })),
  ]
}

function groupMarks(
  marks: readonly TimelineMark[],
  steps: ReadonlySet<string>,
): ReadonlyMap<string, readonly TimelineMark[]> {
  const groups = new Map<string, TimelineMark[]>()
  for (const mark of marks) {
    const row = mark.step !== undefined && steps.has(mark.step) ? mark.step : ''
    const group = groups.get(row)
    if (group) group.push(mark)
    else groups.set(row, [mark])
  }
  return groups
}

function getLastMoment({ created, heard, last, attempts, steps }: RunModel): number {
  return Math.max(
    created,
    heard ?? 0,
    last?.at ?? 0,
    ...attempts.map(({ began, ended }) => ended ?? began),
    ...steps.map(({ began, ended }) => ended ?? began ?? 0),
  )
}

function isWithin(at: number, from: number, to: number): boolean {
  return at >= from && at <= to
}

/** A stretch of time, in milliseconds. */
export type TimeRange = { readonly from: number; readonly to: number }

/** A stretch of a row in a state; `open` where it has not ended. */
type TimelineBar = TimeRange & { readonly state: StepState | RunState; readonly open: boolean }

/** A line of a timeline: a start of the tool, a step, or a run that it started. */
export type TimelineRow = {
  /** `attempt 2`, the key of a step, the id of a run. */
  readonly key: string
  readonly kind: 'attempt' | 'step' | 'child'
  readonly name: string
  readonly depth: number
  readonly state: StepState | RunState
  readonly bars: readonly TimelineBar[]
  readonly marks: readonly TimelineMark[]
  /** The run of the step, to look at. */
  readonly run_id?: string
  readonly error?: string
}

/** A run over time. */
export type Timeline = TimeRange & {
  readonly rows: readonly TimelineRow[]
  /** Nothing was heard. */
  readonly silences: readonly TimeRange[]
  /** Nothing was done: waiting for its turn, for an answer, for the next attempt. */
  readonly idle: readonly TimeRange[]
  /** Where now is, while the run is not over. */
  readonly now?: number
  /** Steps and moments that are not kept because there are too many. */
  readonly more: number
}

const MIN_IDLE_MS = 5000
const MIN_IDLE_SHARE = 0.15
// What happens next to an idle stretch stays readable.
const IDLE_MARGIN = 0.02

/**
 * The stretches of a range in which nothing was done and that are so long that they would leave no
 * room for the rest.
 */
export function findIdleRanges(
  { from, to }: TimeRange,
  active: readonly TimeRange[],
): readonly TimeRange[] {
  const gaps = findGaps({ from, to }, active)
  const busy = to - from - gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0)
  const shortest = Math.max(MIN_IDLE_MS, busy * MIN_IDLE_SHARE)
  const margin = Math.max(busy * IDLE_MARGIN, 250)
  return gaps
    .map((gap) => ({
      from: gap.from === from ? from : gap.from + margin,
      to: gap.to === to ? to : gap.to - margin,
    }))
    .filter((gap) => gap.to - gap.from > shortest)
}

function findGaps({ from, to }: TimeRange, active: readonly TimeRange[]): readonly TimeRange[] {
  const gaps: TimeRange[] = []
  let reached = from
  for (const stretch of [...active].sort((left, right) => left.from - right.from)) {
    if (stretch.from > reached) gaps.push({ from: reached, to: Math.min(stretch.from, to) })
    reached = Math.max(reached, stretch.to)
  }
  if (to > reached) gaps.push({ from: reached, to })
  return gaps.filter((gap) => gap.to > gap.from)
}
