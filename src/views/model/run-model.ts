/**
 * The model of a run: everything that can be drawn of it, as plain data of bounded size.
 *
 * views/model is pure and shared with the browser page in dashboard/, which imports these files by
 * path: no Node built-ins, and nothing that the page does not need in a file that it imports. The
 * same events always give the same model, in one piece or bit by bit. run-model-events.ts applies
 * events to it, run-model-steps.ts is the part about steps.
 */

import type { Plan } from '../../protocol/plan.ts'
import type { RunState } from '../../protocol/run-state.ts'
import { compact } from '../../util/values.ts'
import type { RunFailure, RunProgress } from './event-text.ts'
import type { OpenQuestion } from './run-summary.ts'

/**
 * The state of a step. `waiting`: a question needs an answer; `interrupted`: its runner died or
 * ended first.
 */
export type StepState =
  'pending' | 'running' | 'waiting' | 'ok' | 'failed' | 'skipped' | 'cancelled' | 'interrupted'

/**
 * A step of a workflow, or a task of an orchestrator, or a stage that a tool names in its progress.
 */
export type StepModel = {
  /** Its path: `scan`, `all/2/convert`. */
  readonly key: string
  /** The last part of the path. */
  readonly name: string
  readonly parent?: string
  readonly depth: number
  state: StepState
  kind?: string
  tries: number
  /** Milliseconds. */
  began?: number
  ended?: number
  /** The run of its tool. */
  run_id?: string
  percent?: number
  /** The last thing that was said in it, in one line. */
  last?: string
  error?: string
  /** Each time that it was tried. */
  spans: StateSpan[]
}

/** A stretch of time in a state. */
export type StateSpan = {
  readonly from: number
  to?: number
  state: StepState | RunState
  readonly attempt: number
}

/** One start of the tool, and what came of it. */
export type AttemptModel = {
  readonly attempt: number
  readonly began: number
  ended?: number
  state: RunState
  level?: string
  rc?: number
  error?: RunFailure
  /** Why it was started: `first`, `retry`, `resume`. */ readonly cause: string
  /** Seconds until the next one. */ retry_in_s?: number
  /** Stretches in which it ran and in which it waited for an answer. */ spans: StateSpan[]
}

/** A question and what came of it. */
export type QuestionModel = {
  readonly question: OpenQuestion
  readonly asked: number
  readonly deadline?: number
  answered?: {
    readonly at: number
    readonly by?: string
    readonly value?: unknown
    readonly note?: string
  }
  withdrawn?: true
}

/** A moment that a timeline marks. */
export type TimelineMark = {
  readonly at: number
  readonly seq: number
  readonly type: string
  readonly text: string
  readonly step?: string
}

/**
 * Everything that can be drawn of a run. Plain data of bounded size: the same events always give
 * the same model, in one piece or bit by bit.
 */
export type RunModel = {
  readonly run_id: string
  readonly tool: string
  readonly created: number
  /** It is made of steps that are tools of their own. */
  readonly workflow: boolean
  /** The last event that it knows; 0 before the first. */
  seq: number
  state: RunState
  attempt: number
  attempts: AttemptModel[]
  /** In the order in which they began; those inside another follow it. */
  steps: StepModel[]
  /**
   * Steps that were left out because there are too many; not those that failed or are going on, nor
   * those of the workflow itself, while there is room for these.
   */
  more_steps: number
  progress?: RunProgress
  plan?: Plan
  questions: QuestionModel[]
  /** Milliseconds: when it was heard of last, and when it last said something. */
  heard?: number
  last?: { readonly at: number; readonly type: string; readonly text: string }
  /** The last lines that a person would want when it fails. */
  tail: string[]
  marks: TimelineMark[]
  more_marks: number
  /** Stretches of silence beyond half the allowed one. */
  silences: { readonly from: number; readonly to: number }[]
  /** Seconds of silence that it may keep, once it speaks the protocol; before, what it would be. */
  grace_s?: number
  readonly promised_grace_s?: number
  /**
   * Seconds that an attempt may take, milliseconds of this one in which nobody counted because it
   * waited, and when it will be ended.
   */
  timeout_s?: number
  waited_ms: number
  deadline?: number
  result?: unknown
  error?: RunFailure & { readonly retryable?: boolean }
  artifacts: number
  rc?: number
  counts: {
    events: number
    warnings: number
    diagnostics: number
    errors: number
    items: number
    by_type: { [type: string]: number }
  }
}

/** What is known of a run before its first event. */
export type RunModelInput = {
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
}: RunModelInput): RunModel {
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
    // A workflow sends no heartbeats; its steps do.
    ...compact({ promised_grace_s: workflow ? undefined : grace }),
    counts: { events: 0, warnings: 0, diagnostics: 0, errors: 0, items: 0, by_type: {} },
  }
}

/** The questions of a run that wait for an answer. */
export function listOpenQuestions({
  questions,
}: Pick<RunModel, 'questions'>): readonly QuestionModel[] {
  return questions.filter(({ answered, withdrawn }) => !answered && !withdrawn)
}
