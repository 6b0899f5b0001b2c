/**
 * The definition of a workflow as it is stored and sent: plain JSON in its long form. The keys are
 * a file format.
 */

import type { InteractionOption } from '../../protocol/events.ts'
import type { Permissions } from '../../protocol/manifest.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'

/**
 * A workflow as it is kept and sent: plain JSON, every short form written out. Texts in it may hold
 * `${{ ... }}`.
 */
export type Workflow = {
  readonly name: string
  readonly version?: string
  readonly summary?: string
  readonly description?: string
  /** The JSON Schema of its input; absent: any object. */
  readonly input?: JsonSchema
  readonly steps: readonly WorkflowStep[]
  /** Steps that are taken at the end, however it ended. */
  readonly finally?: readonly WorkflowStep[]
  /** What it gives; absent: the result of its last step. */
  readonly output?: unknown
  /** Seconds for the whole of it. */
  readonly timeout?: number
}

/** A workflow as data, with every short form that a file may have. */
export type WorkflowData = { readonly steps: readonly unknown[]; readonly [key: string]: unknown }

/** How often, and after which pauses, a step is tried again. */
export type RetryPolicy = {
  /** Tries after the first one. */
  readonly max: number
  /**
   * Seconds before the second try; each pause after it is `factor` times as long, up to `longest`.
   */
  readonly delay: number
  readonly factor: number
  readonly longest: number
  /**
   * Codes and classes of errors that are tried again; absent: those that may pass by themselves.
   */
  readonly on?: readonly string[]
}

/** What every step may say. */
export type CommonStep = {
  /** Unique in its list; a part of the step's key. */
  readonly name: string
  /** It is taken only where this is true. */
  readonly when?: string
  readonly retry?: RetryPolicy
  /**
   * Seconds: of one try of a tool, of the whole of a step that holds others, of a wait, of a
   * question.
   */
  readonly timeout?: number
  /** What its failure means for what comes after it; `stop` where it is absent. */
  readonly on_error?: 'stop' | 'continue'
  /** Steps that take back what it did, when the workflow fails later. */
  readonly compensate?: readonly WorkflowStep[]
}

/** Runs a tool: by a line as it is typed, or by its name and its input. */
export type ToolStep = CommonStep & {
  readonly type: 'tool'
  /** What it may do, less than its manifest allows. */
  readonly permissions?: Permissions
} & ({ readonly command: string } | { readonly tool: string; readonly input?: JsonObject })

/** Asks somebody, and waits for the answer. */
export type DecisionStep = CommonStep & {
  readonly type: 'ai_decision'
  /** What is to be decided, as a word: answers may be given by it. */
  readonly decision_type: string
  readonly instruction?: string
  readonly options?: readonly InteractionOption[]
  readonly schema?: JsonSchema
  readonly default?: unknown
  /** What whoever decides should know. */
  readonly context?: JsonObject
}

/** Takes several steps at the same time. */
export type ParallelStep = CommonStep & {
  readonly type: 'parallel'
  readonly tasks: readonly WorkflowStep[]
  readonly max_concurrency: number
}

/** Takes the same steps for every item of a list. */
export type EachStep = CommonStep & {
  readonly type: 'each'
  /** The list: an expression, or a list of texts. */
  readonly items: unknown
  /** What an item is called inside. */
  readonly as: string
  readonly do: readonly WorkflowStep[]
  readonly max_concurrency: number
}

/** Waits: so many seconds, until a moment, or for an answer. */
export type WaitStep = CommonStep & { readonly type: 'wait' } & (
    | { readonly for: number | string }
    | { readonly until: string }
    | {
        readonly answer: {
          readonly prompt: string
          readonly schema?: JsonSchema
          readonly options?: readonly InteractionOption[]
          readonly default?: unknown
        }
      }
  )

/** Takes the steps of another workflow, with an input of its own. */
export type NestedStep = CommonStep & {
  readonly type: 'workflow'
  /** Written out: the file that was named has been read. */
  readonly workflow: Workflow
  readonly input?: unknown
}

export type WorkflowStep = ToolStep | DecisionStep | ParallelStep | EachStep | WaitStep | NestedStep
export type StepType = WorkflowStep['type']
