import type { RunModel } from './run-model-type.ts'

/** What is known of a run before its first event. */
export type AskedRun = {
  readonly run_id: string
  readonly tool: string
  readonly created: string
  readonly workflow?: boolean
  readonly heartbeat_grace_s?: number
}

/** The model of a run of which nothing is known yet but what it was asked. */
export function createRunModel({
  run_id,
  tool,
  created,
  workflow = false,
  heartbeat_grace_s: grace,
}: AskedRun): RunModel {
  return {
    run_id,
    tool,
    created: Date.parse(created),
    workflow,
    seq: 0,
    state: 'queued',
    attempt: 0,
    attempts: [],
    steps: [],
    more_steps: 0,
    questions: [],
    tail: [],
    marks: [],
    more_marks: 0,
    silences: [],
    waited_ms: 0,
    artifacts: 0,
    // A workflow owes nobody a sign of life: its steps do.
    ...(grace !== undefined && !workflow && { promised_grace_s: grace }),
    counts: { events: 0, warnings: 0, diagnostics: 0, errors: 0, items: 0, by_type: {} },
  }
}
