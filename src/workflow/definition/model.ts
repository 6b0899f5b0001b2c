/**
 * The definition of a workflow as it is stored and sent: plain JSON in its long form. The keys are
 * a file format. Each step kind adds its own type in steps/<kind>.ts.
 */

import type { JsonSchema } from '../../util/values.ts'

/**
 * A workflow as it is stored and sent: plain JSON, every short form written out. Texts in it may
 * contain `${{ ... }}`.
 */
export type Workflow = {
  readonly name: string
  readonly version?: string
  readonly summary?: string
  readonly description?: string
  /** The JSON Schema of its input; absent: any object. */
  readonly input?: JsonSchema
  readonly steps: readonly WorkflowStep[]
  /** Steps that run at the end, after success and after failure. */
  readonly finally?: readonly WorkflowStep[]
  /** Its result; absent: the result of its last step. */
  readonly output?: unknown
  /** Seconds for the whole workflow. */
  readonly timeout?: number
}

/** A workflow as data, with every short form that a file may have. */
export type WorkflowData = { readonly steps: readonly unknown[]; readonly [key: string]: unknown }

/** How often, and after which pauses, a step is retried. */
export type RetryPolicy = {
  /** Attempts after the first one. */
  readonly max: number
  /** Seconds before the second attempt; each later pause is `factor` times as long. */
  readonly delay: number
  readonly factor: number
  /** The longest pause in seconds. */
  readonly longest: number
  /** Error codes and classes that are retried; absent: errors that may pass. */
  readonly on?: readonly string[]
}

/** How a step is retried unless it says otherwise. */
export const DEFAULT_RETRY = {
  max: 3,
  delay: 1,
  factor: 2,
  longest: 60,
} as const satisfies RetryPolicy

/** The fields of every step. */
export type CommonStep = {
  /** Unique in its list; a part of the step's key. */
  readonly name: string
  /** The step runs only when this expression is true. */
  readonly when?: string
  readonly retry?: RetryPolicy
  /** Seconds: for one attempt of a tool, for all steps inside, for a wait, for an answer. */
  readonly timeout?: number
  /** Whether a failure ends the workflow; default `stop`. */
  readonly on_error?: 'stop' | 'continue'
  /** Steps that undo this one when the workflow fails later. */
  readonly compensate?: readonly WorkflowStep[]
}

/**
 * The types of steps by the value of `type`. Each file in steps/ adds its kind by declaration
 * merging, because steps contain steps: an import in the other direction would be a cycle.
 */
export interface StepTypes {}

export type StepType = keyof StepTypes
export type WorkflowStep = StepTypes[StepType]
