import { ERROR_TABLE } from '../../../contract/errors.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import type { DocError, DocModel } from '../model/model.ts'
import { bullets } from '../markdown/blocks.ts'
import { code, inline } from '../markdown/inline.ts'

const EVERY_CALL: readonly ErrorCode[] = [
  'INVALID_INPUT',
  'MISSING_PARAM',
  'USAGE',
  'NOT_FOUND',
  'PERMISSION',
  'TIMEOUT',
  'INTERNAL',
]

/** What to do about a failure, whatever its code; then about these codes. */
export function errorSection(codes: readonly ErrorCode[] = []): string {
  return bullets([
    `Read ${code('error.suggestion')} first: ${code('fix')} says what to do, ${code('example')} is the repaired call.`,
    `${code('recoverable')}: change the request and call again. ${code('retryable')}: the same call may work later; wait, and try three times at most. Neither: stop and tell the user.`,
    ...codes.map(tableLine),
  ])
}

/** The codes that calls of this program can end with besides the tools' own. */
export function commonCodes({ tools }: DocModel): ErrorCode[] {
  return [
    ...EVERY_CALL,
    ...(tools.some((tool) => tool.destructive) ? ['CONFIRMATION_REQUIRED' as const] : []),
    ...(tools.some((tool) => tool.session) ? ['ANSWER_REQUIRED' as const] : []),
  ]
}

/** Every code of the table. */
export function allCodes(): ErrorCode[] {
  return Object.keys(ERROR_TABLE) as ErrorCode[]
}

/** The codes that a tool declares, each with what to do. */
export function toolErrors(errors: readonly DocError[]): string {
  return bullets(
    errors.map(
      (error) =>
        `${code(error.code)} (exit ${error.exit}): ${endSentence(inline(error.message))} ${endSentence(error.advice)}`,
    ),
  )
}

/** The same without advice, in one line. */
export function shortToolErrors(errors: readonly DocError[]): string {
  return errors.length === 0
    ? ''
    : `Errors: ${errors.map((error) => `${code(error.code)} ${inline(error.message)}`).join('; ')}`
}

/** The exit status of a code of the table, in words where it depends on how the input came. */
export function exitWords(name: ErrorCode): string {
  if (name === 'INVALID_INPUT') return '2, or 65 for JSON input'
  return name === 'USAGE' ? '2, or 64 if unreadable' : String(ERROR_TABLE[name].exit)
}

function tableLine(name: ErrorCode): string {
  const { meaning, advice } = ERROR_TABLE[name]
  return `${code(name)} (exit ${exitWords(name)}): ${endSentence(meaning)} ${endSentence(advice)}`
}

/** A sentence with its full stop. */
export function endSentence(text: string): string {
  return /[.!?…]$/.test(text) || text === '' ? text : `${text}.`
}
