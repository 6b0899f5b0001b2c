import { factsOf, findRow, isErrorCode, protocolName } from '../errors.ts'
import type { ErrorCategory, ErrorCode } from '../errors.ts'
import { isObject } from '../json.ts'
import type { ErrorObject, Suggestion } from '../outcome.ts'
import { toolableCode } from './toolable.ts'
import { numberOf } from './tooli.ts'

/** What is known about a foreign document besides its text. */
export type ReadContext = { readonly tool: string; readonly exitCode?: number }

type Fields = Readonly<Record<string, unknown>>

/** The error that a foreign value describes: text, or an object in the words of any dialect. What has no place of its own is kept in the details. */
export function readError(value: unknown, context: ReadContext): ErrorObject {
  const fields: Fields = isObject(value) ? value : { message: value }
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
    ...(isObject(details) ? details : details !== undefined && { details }),
    ...(isObject(more) ? more : more !== undefined && { context: more }),
    ...rest,
  }
  if (written !== undefined && typeof written !== 'string') kept.code = written
  const code = readCode(written, kept, context)
  const place = typeof field === 'string' ? field : takeText(kept, 'field')
  const advice = readSuggestion(suggestion ?? hint)
  return {
    code,
    category: findRow(code) || !isCategory(category) ? factsOf(code).category : category,
    message: firstText(message, msg) ?? 'The tool failed without saying why',
    ...readBooleans(code, category, { recoverable, retryable, is_retryable }, advice),
    ...(advice && { suggestion: advice }),
    ...(place !== undefined && { field: place }),
    ...(Object.keys(kept).length > 0 && { details: kept }),
  }
}

/** The errors of a list; none when it is not a list. */
export function readErrors(list: unknown, context: ReadContext): readonly ErrorObject[] {
  return Array.isArray(list) ? list.map((error) => readError(error, context)) : []
}

const BY_EXIT: ReadonlyMap<number | undefined, ErrorCode> = new Map([
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

function readCode(
  written: unknown,
  kept: Record<string, unknown>,
  { exitCode }: ReadContext,
): string {
  if (typeof written !== 'string' || written === '') return BY_EXIT.get(exitCode) ?? 'INTERNAL'
  if (typeof kept.code === 'string' && isWrittenAs(kept.code, written))
    return takeText(kept, 'code')!
  return findRow(written)?.code ?? written
}

// A writer with fewer codes than ours leaves the true one in the details; any other `code` found there is the tool's own data.
function isWrittenAs(code: string, written: string): boolean {
  const facts = factsOf(code)
  if (isErrorCode(code))
    return [toolableCode({ code, ...facts }), numberOf(code), protocolName(code)].includes(written)
  return /^E(\d{4}|_\w+)$/.test(code) && OF_OWN_CODES.has(written)
}

const OF_OWN_CODES = new Set([
  'INVALID_INPUT',
  'PERMISSION',
  'PRECONDITION',
  'DEPENDENCY',
  'INTERNAL',
])

type Claims = {
  readonly recoverable: unknown
  readonly retryable: unknown
  readonly is_retryable: unknown
}

// `is_retryable` means either of our two facts; the code tells which, and where it does not, the suggestion.
function readBooleans(
  code: string,
  category: unknown,
  claims: Claims,
  advice: Suggestion | undefined,
): { readonly recoverable: boolean; readonly retryable: boolean } {
  const facts = factsOf(code, isCategory(category) ? { category, message: '' } : undefined)
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
  const fields: Fields = isObject(value) ? value : { fix: value }
  if (typeof fields.fix !== 'string' || fields.fix === '') return undefined
  return {
    action: oneOf(fields.action, ['retry_with_modified_input', 'use_different_tool', 'abort']),
    fix: fields.fix,
    ...(typeof fields.example === 'string' && { example: fields.example }),
    ...(isObject(fields.input) && { input: fields.input }),
    applicability: oneOf(fields.applicability, [
      'maybe_incorrect',
      'machine_applicable',
      'has_placeholders',
    ]),
  }
}

function oneOf<const Word extends string>(value: unknown, words: readonly [Word, ...Word[]]): Word {
  return words.find((word) => word === value) ?? words[0]
}

function isCategory(value: unknown): value is ErrorCategory {
  return ['input', 'auth', 'state', 'runtime', 'internal'].includes(value as string)
}

function firstText(...values: readonly unknown[]): string | undefined {
  const given = values.find((value) => value !== undefined && value !== null && value !== '')
  return given === undefined || typeof given === 'string' ? given : JSON.stringify(given)
}

function takeText(fields: Record<string, unknown>, key: string): string | undefined {
  if (!Object.hasOwn(fields, key) || typeof fields[key] !== 'string') return undefined
  const value = fields[key]
  delete fields[key]
  return value
}
