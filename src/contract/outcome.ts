import type { ContentBlock } from './content.ts'
import type { ErrorCategory } from './errors.ts'

/** What an agent should do about a failure. */
export type Suggestion = {
  readonly action: 'retry_with_modified_input' | 'use_different_tool' | 'abort'
  readonly fix: string
  readonly example?: string
  /** A repaired input; each surface renders it in its own form (a command line, JSON). */
  readonly input?: { readonly [field: string]: unknown }
  readonly applicability: 'machine_applicable' | 'maybe_incorrect' | 'has_placeholders'
}

/** The error object of every envelope. `recoverable`: the caller can fix the request. `retryable`: the same request may work later. */
export type ErrorObject = {
  readonly code: string
  readonly category: ErrorCategory
  readonly message: string
  readonly recoverable: boolean
  readonly retryable: boolean
  readonly suggestion?: Suggestion
  readonly field?: string
  readonly details?: { readonly [key: string]: unknown }
}

/** A file or other product that a call left behind. */
export type Artifact = { readonly name: string; readonly uri: string; readonly sha256?: string }

/** Facts about a call that are not its result. Absent values are left out. */
export type OutcomeMeta = {
  readonly tool: string
  readonly version?: string
  readonly duration_ms: number
  readonly dry_run?: true
  readonly warnings?: readonly string[]
  readonly truncated?: true
  readonly next_cursor?: string
  readonly caller?: string
  readonly run_id?: string
  readonly artifacts?: readonly Artifact[]
}

/** Counts of a partly successful call. */
export type PartialSummary = {
  readonly total: number
  readonly succeeded: number
  readonly failed: number
  readonly recoverable_failures: number
}

export type SuccessOutcome<Result = unknown> = {
  readonly ok: true
  readonly status: 'success'
  readonly result: Result
  /** Text for the model that goes with the result. */
  readonly message?: string
  /** The result is for the program, not for the model: renderers for models show message and content only. */
  readonly hidden?: true
  /** What a model is shown besides the message: pictures, sound, files. */
  readonly content?: readonly ContentBlock[]
  readonly meta: OutcomeMeta
}

export type PartialOutcome<Result = unknown> = {
  readonly ok: true
  readonly status: 'partial'
  readonly result: Result
  readonly message?: string
  readonly hidden?: true
  readonly content?: readonly ContentBlock[]
  readonly errors: readonly ErrorObject[]
  readonly summary: PartialSummary
  readonly meta: OutcomeMeta
}

export type FailureOutcome = {
  readonly ok: false
  readonly status: 'error'
  readonly error: ErrorObject
  /** Set when a partial outcome had no success at all. */
  readonly errors?: readonly ErrorObject[]
  readonly summary?: PartialSummary
  readonly meta: OutcomeMeta
}

/** What every call answers with, on every surface. */
export type Outcome<Result = unknown> =
  SuccessOutcome<Result> | PartialOutcome<Result> | FailureOutcome
