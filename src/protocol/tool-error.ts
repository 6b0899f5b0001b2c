/**
 * `ToolError`: the one error class. A tool throws it to fail with a code, and a direct call of a
 * tool throws it.
 */

import { compact } from '../util/values.ts'
import type { DeclaredError, ErrorCategory, ErrorCode } from './errors.ts'
import { findErrorRow, getErrorInfo } from './errors.ts'
import type { ErrorObject, FailureOutcome, Suggestion } from './outcome.ts'

/** A suggestion as an author writes it: a string means `{fix}`; what is left out is filled in. */
export type SuggestionInput =
  | string
  | (Partial<Suggestion> & { readonly fix: string })
  | (Partial<Suggestion> & { readonly input: { readonly [field: string]: unknown } })

export type FailOptions = {
  readonly category?: ErrorCategory
  readonly recoverable?: boolean
  readonly retryable?: boolean
  readonly suggestion?: SuggestionInput
  readonly details?: { readonly [key: string]: unknown }
  readonly field?: string
  readonly cause?: unknown
}

/** A code of the table (with completion in editors) or a tool's own. */
export type AnyErrorCode = ErrorCode | (string & {})

const TOOL_ERROR_BRAND = Symbol.for('toolable.error')

/**
 * The one error class: what a tool throws to fail with a code, and what a direct call of a tool
 * throws.
 */
export class ToolError extends Error {
  readonly code: string
  readonly category: ErrorCategory
  readonly recoverable: boolean
  readonly retryable: boolean
  // Declared only, so that what is absent is not there as undefined.
  declare readonly suggestion?: Suggestion
  declare readonly details?: { readonly [key: string]: unknown }
  declare readonly field?: string
  /** What the author decided; the rest is left to a tool's own `errors` table. */
  private readonly given: ToolErrorInit

  constructor(code: AnyErrorCode, message?: string, options: FailOptions = {}) {
    const known = findErrorRow(code)
    super(
      message ?? known?.row.meaning ?? code,
      options.cause === undefined ? undefined : { cause: options.cause },
    )
    this.name = 'ToolError'
    const facts = getErrorInfo(code)
    this.code = known?.code ?? code
    // The table alone says where its codes belong, so that exit status and category never disagree.
    this.category = known?.row.category ?? options.category ?? facts.category
    this.recoverable = options.recoverable ?? facts.recoverable
    this.retryable = options.retryable ?? facts.retryable
    if (options.suggestion !== undefined) this.suggestion = completeSuggestion(options.suggestion)
    if (options.details !== undefined) this.details = options.details
    if (options.field !== undefined) this.field = options.field
    this.given = { ...options, message }
    Object.defineProperty(this, 'given', { enumerable: false })
    Object.defineProperty(this, TOOL_ERROR_BRAND, { value: true })
  }

  /** True also for errors made by another copy of this package. */
  static is(value: unknown): value is ToolError {
    return (
      typeof value === 'object' &&
      value !== null &&
      (value as { [TOOL_ERROR_BRAND]?: unknown })[TOOL_ERROR_BRAND] === true
    )
  }

  /**
   * Takes text and facts that were left open from the table of the tool that failed. The first
   * table that knows the code decides.
   */
  completeFrom(declared: { readonly [code: string]: DeclaredError }): this {
    const own = findDeclaredError(declared, this.code)
    if (!own) return this
    const { message = own.message, category, recoverable, retryable } = this.given
    const facts = getErrorInfo(this.code, own)
    const complete = {
      category: findErrorRow(this.code)?.row.category ?? category ?? facts.category,
      recoverable: recoverable ?? facts.recoverable,
      retryable: retryable ?? facts.retryable,
    }
    return Object.assign(this, {
      message,
      ...complete,
      given: { ...this.given, ...complete, message },
    })
  }

  /** The error as the envelope carries it. */
  toObject(): ErrorObject {
    return compact({
      code: this.code,
      category: this.category,
      message: this.message,
      recoverable: this.recoverable,
      retryable: this.retryable,
      suggestion: this.suggestion,
      field: this.field,
      details: this.details,
    })
  }
}

type ToolErrorInit = FailOptions & { readonly message: string | undefined }

/**
 * Throws a ToolError. Without a message, the text that the tool declares for the code.
 * `recoverable` and `retryable` default to the facts of the code.
 */
export function fail(code: AnyErrorCode, message?: string, options?: FailOptions): never {
  throw new ToolError(code, message, options)
}

/** Turns an error object from an envelope back into a ToolError. */
export function reviveToolError(error: ErrorObject): ToolError {
  return new ToolError(error.code, error.message, error)
}

/** The outcome of a call that failed before its tool ran. */
export function createFailureOutcome(
  error: ErrorObject,
  tool: string,
  version?: string,
): FailureOutcome {
  const meta = compact({ tool, version, duration_ms: 0 })
  return { ok: false, status: 'error', error, meta }
}

function completeSuggestion(given: SuggestionInput): Suggestion {
  const partial: Partial<Suggestion> = typeof given === 'string' ? { fix: given } : given
  return compact({
    action: partial.action ?? 'retry_with_modified_input',
    fix: partial.fix ?? 'Call again with the repaired input',
    example: partial.example,
    input: partial.input,
    applicability: partial.applicability ?? 'maybe_incorrect',
  })
}

// A code of ours may be declared under any of its names.
function findDeclaredError(
  declared: { readonly [code: string]: DeclaredError },
  code: string,
): DeclaredError | undefined {
  if (Object.hasOwn(declared, code)) return declared[code]
  if (!findErrorRow(code)) return undefined
  const name = Object.keys(declared).find((candidate) => findErrorRow(candidate)?.code === code)
  return name === undefined ? undefined : declared[name]
}
