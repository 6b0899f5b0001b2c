import { isOver } from '../../../contract/run-state.ts'
import type { AttemptModel, Mark, RunModel, Span, StepModel } from '../run-model/run-model-type.ts'
import type { RunRow } from '../wire/run-row.ts'
import { idleStretches } from './idle-stretches.ts'
import type { Bar, Stretch, Timeline, TimelineRow } from './timeline-type.ts'

/** A run as rows over time. What is not over reaches to `now`; children that are the run of a step are in its row already. */
export function timelineOf(
  model: RunModel,
  now: number,
  children: readonly RunRow[] = [],
): Timeline {
  const over = isOver(model.state)
  const end = over ? lastMoment(model) : Math.max(now, lastMoment(model))
  const marks = groupMarks(model.marks, new Set(model.steps.map(({ key }) => key)))
  const ofSteps = new Set(model.steps.flatMap((step) => step.run_id ?? []))
  const rows = [
    ...model.attempts.map((attempt): TimelineRow => ({
      key: `attempt ${attempt.attempt}`,
      kind: 'attempt',
      name: `attempt ${attempt.attempt}`,
      depth: 0,
      state: attempt.state,
      bars: barsOf(cameOut(attempt.spans, attempt, attempt.attempt), end),
      marks: (marks.get('') ?? []).filter((mark) =>
        isWithin(mark.at, attempt.began, attempt.ended ?? end),
      ),
      ...(attempt.error && { error: attempt.error.code }),
    })),
    ...model.steps.map((step) => stepRow(step, marks.get(step.key) ?? [], end)),
    ...children.filter((child) => !ofSteps.has(child.run_id)).map((child) => childRow(child, end)),
  ]
  const range = {
    from: Math.min(model.created, ...rows.flatMap(({ bars }) => bars.map(({ from }) => from))),
    to: end,
  }
  return {
    ...range,
    rows,
    silences: model.silences,
    idle: idleStretches(range, activeStretches(model, rows)),
    ...(!over && { now }),
    more: model.more_steps + model.more_marks,
  }
}

// What is over is drawn as it came out, but for the time that it waited.
function cameOut(
  spans: readonly Span[],
  { began, ended, state }: Pick<AttemptModel | StepModel, 'began' | 'ended' | 'state'>,
  attempt: number,
): readonly Span[] {
  if (spans.length === 0)
    return began === undefined
      ? []
      : [{ from: began, ...(ended !== undefined && { to: ended }), state, attempt }]
  return ended === undefined
    ? spans
    : spans.map((span) =>
        span.state === 'running' && span.attempt === attempt ? { ...span, state } : span,
      )
}

function stepRow(step: StepModel, marks: readonly Mark[], end: number): TimelineRow {
  const { key, name, depth, state, run_id, error } = step
  return {
    key,
    kind: 'step',
    name,
    depth: depth + 1,
    state,
    bars: barsOf(cameOut(step.spans, step, step.spans.at(-1)?.attempt ?? step.tries), end),
    marks,
    ...(run_id !== undefined && { run_id }),
    ...(error !== undefined && { error }),
  }
}

function childRow(
  { run_id, tool, state, created, started, ended, code }: RunRow,
  end: number,
): TimelineRow {
  const from = Date.parse(started ?? created)
  return {
    key: run_id,
    kind: 'child',
    name: tool,
    depth: 1,
    state,
    bars: barsOf(
      [{ from, ...(ended !== undefined && { to: Date.parse(ended) }), state, attempt: 1 }],
      end,
    ),
    marks: [],
    run_id,
    ...(code !== undefined && { error: code }),
  }
}

function barsOf(spans: readonly Span[], end: number): readonly Bar[] {
  return spans.map(({ from, to, state }) => ({
    from,
    to: Math.max(from, to ?? end),
    state,
    open: to === undefined,
  }))
}

// Where steps are known, a run does something while one of them does; a pause is a step that does nothing.
function activeStretches(
  { steps, marks }: RunModel,
  rows: readonly TimelineRow[],
): readonly Stretch[] {
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
  marks: readonly Mark[],
  steps: ReadonlySet<string>,
): ReadonlyMap<string, readonly Mark[]> {
  const groups = new Map<string, Mark[]>()
  for (const mark of marks) {
    const row = mark.step !== undefined && steps.has(mark.step) ? mark.step : ''
    const group = groups.get(row)
    if (group) group.push(mark)
    else groups.set(row, [mark])
  }
  return groups
}

function lastMoment({ created, heard, last, attempts, steps }: RunModel): number {
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
