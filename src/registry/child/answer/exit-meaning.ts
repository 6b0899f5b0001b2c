import type { ErrorCode } from '../../../contract/errors.ts'
import { ERROR_TABLE } from '../../../contract/errors.ts'
import type { EXIT_STATUSES } from '../../../contract/exit-statuses.ts'
import type { ChildOutput } from './answer.ts'

/** What a manifest says about an exit status. */
export type ExitMeaning = {
  readonly code: ErrorCode
  readonly retryable: boolean
  readonly fatal: boolean
}

const CODES: { readonly [name: string]: ErrorCode } = {
  usage_error: 'USAGE',
  syntax_error: 'USAGE',
  data_error: 'INVALID_INPUT',
  no_input: 'NOT_FOUND',
  unavailable: 'DEPENDENCY',
  permission_denied: 'PERMISSION',
  config_error: 'CONFIG',
  timeout: 'TIMEOUT',
  cancelled: 'CANCELLED',
  terminated: 'CANCELLED',
} satisfies { readonly [name in (typeof EXIT_STATUSES)[number]['name']]?: ErrorCode }

/** What the manifest calls the exit status of a child: `retryable_error`, `fatal_error`, a name of our own statuses; undefined where it says nothing. */
export function meaningOf({
  status,
  exitCodes = {},
}: Pick<ChildOutput, 'status' | 'exitCodes'>): ExitMeaning | undefined {
  const name = Object.keys(exitCodes).find((key) => key !== 'ok' && exitCodes[key] === status)
  if (name === undefined) return undefined
  if (/retry|transient|temporary/i.test(name))
    return { code: 'DEPENDENCY', retryable: true, fatal: false }
  const code = Object.hasOwn(CODES, name) ? CODES[name]! : 'INTERNAL'
  return { code, retryable: ERROR_TABLE[code].retryable, fatal: /fatal/i.test(name) }
}
