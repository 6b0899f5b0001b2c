/**
 * Reads the error and the content of a foreign document. Codes of any dialect are recognized; a
 * code that a writer with fewer codes replaced is restored from the details.
 */

import { compact, isObject } from '../../util/values.ts'
import type { ErrorCategory, ErrorCode } from '../errors.ts'
import {
  ERROR_CATEGORIES,
  findErrorRow,
  getErrorInfo,
  isErrorCode,
  toProtocolCode,
} from '../errors.ts'
import type { ContentBlock, ErrorObject, Suggestion } from '../outcome.ts'
import { findContentProblem } from '../outcome.ts'
import { toToolableCode } from './toolable.ts'
import { toNumberedCode } from './tooli.ts'

/** What is known about a foreign document besides its text. */
export type ForeignCall = { readonly tool: string; readonly exitCode?: number }

type ErrorFields = Readonly<Record<string, unknown>>

/**
 * The error that a foreign value describes: text, or an object in the words of any dialect. What
 * has no place of its own is kept in the details.
 */
export function readError(value: unknown, context: ForeignCall): ErrorObject {
  const fields: ErrorFields = isObject(value) ? value : { message: value }
  const {
    code: written,
    category,
    message,
    msg,
    recoverable,
    retryable,
    is_retryable,
    suggestion,
    hint,
    field,
    details,
    context: more,
    ...rest
  } = fields
  const kept: Record<string, unknown> = {
    ...(isObject(details) ? details : compact({ details })),
    ...(isObject(more) ? more : compact({ context: more })),
    ...rest,
  }
  if (written !== undefined && typeof written !== 'string') kept.code = written
  const code = readErrorCode(written, kept, context)
  const place = typeof field === 'string' ? field : takeText(kept, 'field')
  const advice = readSuggestion(suggestion ?? hint)
  return {
    code,
    category:
      findErrorRow(code) || !isErrorCategory(category) ? getErrorInfo(code).category : category,
    message: findFirstText(message, msg) ?? 'The tool failed without saying why',
    ...readRetryFlags(code, category, { recoverable, retryable, is_retryable }, advice),
    ...compact({
      suggestion: advice,
      field: place,
      details: Object.keys(kept).length > 0 ? kept : undefined,
    }),
  }
}

/** The errors of a list; none when it is not a list. */
export function readErrors(list: unknown, context: ForeignCall): readonly ErrorObject[] {
  return Array.isArray(list) ? list.map((error) => readError(error, context)) : []
}

const CODE_BY_EXIT_STATUS: ReadonlyMap<number | undefined, ErrorCode> = new Map([
  [2, 'INVALID_INPUT'],
  [64, 'USAGE'],
  [65, 'INVALID_INPUT'],
  [66, 'NOT_FOUND'],
  [69, 'DEPENDENCY'],
  [75, 'DEPENDENCY'],
  [77, 'PERMISSION'],
  [78, 'CONFIG'],
  [124, 'TIMEOUT'],
  [130, 'CANCELLED'],
  [143, 'CANCELLED'],
] as const)

function readErrorCode(
  written: unknown,
  kept: Record<string, unknown>,
  { exitCode }: ForeignCall,
): string {
  if (typeof written !== 'string' || written === '')
    return CODE_BY_EXIT_STATUS.get(exitCode) ?? 'INTERNAL'
  if (typeof kept.code === 'string' && isWrittenAs(kept.code, written))
    return takeText(kept, 'code')!
  return findErrorRow(written)?.code ?? written
}

// A writer with fewer codes than ours leaves the true one in the details; any other `code` found
// there is the tool's own data.
function isWrittenAs(code: string, written: string): boolean {
  const facts = getErrorInfo(code)
  if (isErrorCode(code))
    return [
      toToolableCode({ code, ...facts }),
      toNumberedCode(code),
      toProtocolCode(code),
    ].includes(written)
  return /^E(\d{4}|_\w+)$/.test(code) && CODES_FOR_CUSTOM_ERRORS.has(written)
}

const CODES_FOR_CUSTOM_ERRORS = new Set([
  'INVALID_INPUT',
  'PERMISSION',
  'PRECONDITION',
  'DEPENDENCY',
  'INTERNAL',
])

type RetryClaims = {
  readonly recoverable: unknown
  readonly retryable: unknown
  readonly is_retryable: unknown
}

// `is_retryable` means either of our two facts; the code tells which, and where it does not, the
// suggestion.
function readRetryFlags(
  code: string,
  category: unknown,
  claims: RetryClaims,
  advice: Suggestion | undefined,
): { readonly recoverable: boolean; readonly retryable: boolean } {
  const facts = getErrorInfo(
    code,
    isErrorCategory(category) ? { category, message: '' } : undefined,
  )
  const either = typeof claims.is_retryable === 'boolean' ? claims.is_retryable : undefined
  const byAdvice = advice ? advice.action === 'retry_with_modified_input' : facts.recoverable
  const guess =
    either === undefined || either === (facts.recoverable || facts.retryable)
      ? facts
      : { recoverable: either && byAdvice, retryable: either && !byAdvice }
  return {
    recoverable: typeof claims.recoverable === 'boolean' ? claims.recoverable : guess.recoverable,
    retryable: typeof claims.retryable === 'boolean' ? claims.retryable : guess.retryable,
  }
}

function readSuggestion(value: unknown): Suggestion | undefined {
  const fields: ErrorFields = isObject(value) ? value : { fix: value }
  if (typeof fields.fix !== 'string' || fields.fix === '') return undefined
  return compact({
    action: matchOrFirst(fields.action, [
      'retry_with_modified_input',
      'use_different_tool',
      'abort',
    ]),
    fix: fields.fix,
    example: typeof fields.example === 'string' ? fields.example : undefined,
    input: isObject(fields.input) ? fields.input : undefined,
    applicability: matchOrFirst(fields.applicability, [
      'maybe_incorrect',
      'machine_applicable',
      'has_placeholders',
    ]),
  })
}

function matchOrFirst<const Word extends string>(
  value: unknown,
  words: readonly [Word, ...Word[]],
): Word {
  return words.find((word) => word === value) ?? words[0]
}

function isErrorCategory(value: unknown): value is ErrorCategory {
  return ERROR_CATEGORIES.includes(value as ErrorCategory)
}

function findFirstText(...values: readonly unknown[]): string | undefined {
  const given = values.find((value) => value !== undefined && value !== null && value !== '')
  return given === undefined || typeof given === 'string' ? given : JSON.stringify(given)
}

function takeText(fields: Record<string, unknown>, key: string): string | undefined {
  if (!Object.hasOwn(fields, key) || typeof fields[key] !== 'string') return undefined
  const value = fields[key]
  delete fields[key]
  return value
}

/**
 * Content of a foreign document, as a field to spread; undefined for what is no list of content.
 */
export function readContent(
  value: unknown,
): { readonly content: readonly ContentBlock[] } | undefined {
  const isContent =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((block) => findContentProblem(block) === undefined)
  return isContent ? { content: value as readonly ContentBlock[] } : undefined
}
