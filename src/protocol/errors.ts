/**
 * The error codes of every transport in one table.
 *
 * Exit status, HTTP status, run-protocol name and the two booleans of an error (`recoverable`,
 * `retryable`) all follow from `ERROR_TABLE`. Tools may add codes of their own; `getErrorInfo`
 * answers for both.
 *
 * This folder holds what tools, callers and other programs agree on: outcomes, errors, events,
 * manifests, run states and the forms in which they are written. It imports nothing but `util`.
 * Start with `outcome.ts`, then `errors.ts` and `events.ts`; `context.ts` is what a handler gets;
 * `dialects/` and `providers/` translate to and from the forms of others.
 */

import { compact } from '../util/values.ts'

export type ErrorCategory = 'input' | 'auth' | 'state' | 'runtime' | 'internal'
export type ErrorClass =
  'user_error' | 'policy_error' | 'retryable' | 'infra_error' | 'cancelled' | 'unknown'

/** One row of the table of codes: every surface derives its own status from it. */
export type ErrorRow = {
  readonly category: ErrorCategory
  readonly class: ErrorClass
  /** Process exit status. */
  readonly exit: number
  readonly http: number
  readonly recoverable: boolean
  readonly retryable: boolean
  /** Numbered names (`E1001`), first the one we write. */
  readonly numbers: readonly string[]
  /**
   * Names of the run protocol (`E_TIMEOUT`), first the one we write; absent where the protocol has
   * none.
   */
  readonly protocol?: readonly string[]
  readonly meaning: string
  /** What an agent should do by default. */
  readonly advice: string
}

const createErrorRow = (
  [category, errorClass]: readonly [ErrorCategory, ErrorClass],
  exit: number,
  http: number,
  [recoverable, retryable]: readonly [boolean, boolean],
  numbers: readonly string[],
  protocol: readonly string[],
  meaning: string,
  advice: string,
): ErrorRow =>
  compact({
    category,
    class: errorClass,
    exit,
    http,
    recoverable,
    retryable,
    numbers,
    protocol: protocol.length > 0 ? protocol : undefined,
    meaning,
    advice,
  })

const FIXABLE = [true, false] as const
const RETRYABLE = [false, true] as const
const FINAL = [false, false] as const

/**
 * The one table of error codes. INVALID_INPUT exits 2 when the input came by flags and 65 when it
 * came as JSON.
 */
export const ERROR_TABLE = {
  INVALID_INPUT: createErrorRow(
    ['input', 'user_error'],
    2,
    400,
    FIXABLE,
    ['E1000'],
    ['E_SCHEMA_MISMATCH'],
    'The input does not fit the schema',
    'Correct the named field and call again; request a mapping or a schema update if the data is right',
  ),
  MISSING_PARAM: createErrorRow(
    ['input', 'user_error'],
    2,
    400,
    FIXABLE,
    ['E1001'],
    [],
    'A required field is missing',
    'Add the named field and call again',
  ),
  USAGE: createErrorRow(
    ['input', 'user_error'],
    2,
    400,
    FIXABLE,
    ['E1001'],
    [],
    'Unknown flag or command, or arguments that cannot be parsed',
    'Read the help of the command and call again',
  ),
  INVALID_PATH: createErrorRow(
    ['input', 'user_error'],
    66,
    400,
    FIXABLE,
    ['E1003'],
    ['E_INPUT_NOT_FOUND'],
    'A path given as input does not exist or is of the wrong kind',
    'Ask the user to fix the path; do not retry as is',
  ),
  NOT_FOUND: createErrorRow(
    ['state', 'user_error'],
    66,
    404,
    FIXABLE,
    ['E3001'],
    ['E_INPUT_NOT_FOUND'],
    'The named thing does not exist',
    'Ask the user to fix the name; do not retry as is',
  ),
  CONFLICT: createErrorRow(
    ['state', 'user_error'],
    73,
    409,
    FIXABLE,
    ['E3002'],
    [],
    'The request contradicts the present state',
    'Read the present state, then change the request',
  ),
  PRECONDITION: createErrorRow(
    ['state', 'user_error'],
    1,
    412,
    FIXABLE,
    ['E3000'],
    [],
    'Something has to be done first',
    'Do what the message names, then call again',
  ),
  PERMISSION: createErrorRow(
    ['auth', 'policy_error'],
    77,
    403,
    FINAL,
    ['E2000'],
    ['E_PERMISSION'],
    'Not allowed',
    'Adjust permissions; do not retry',
  ),
  CONFIRMATION_REQUIRED: createErrorRow(
    ['auth', 'user_error'],
    77,
    403,
    FIXABLE,
    ['E2003'],
    [],
    'A destructive call needs a confirmation',
    'Ask the user, then confirm the call',
  ),
  SANDBOX_UNAVAILABLE: createErrorRow(
    ['auth', 'policy_error'],
    69,
    503,
    FINAL,
    [],
    ['E_SANDBOX_UNAVAILABLE'],
    'The machine cannot enforce what the tool needs',
    'Run on a machine that can, or ask the operator to allow a lower level',
  ),
  ANSWER_REQUIRED: createErrorRow(
    ['state', 'user_error'],
    77,
    409,
    FIXABLE,
    [],
    [],
    'The tool asks a question and nobody can answer',
    'Answer with the command that the message names',
  ),
  DEPENDENCY: createErrorRow(
    ['runtime', 'retryable'],
    69,
    502,
    RETRYABLE,
    ['E4002'],
    ['E_TRANSIENT_NET'],
    'Something the tool depends on did not work',
    'Retry with backoff, three times at most',
  ),
  RATE_LIMIT: createErrorRow(
    ['runtime', 'retryable'],
    75,
    429,
    RETRYABLE,
    ['E4003'],
    ['E_RATE_LIMIT'],
    'Too many calls',
    'Back off and lower the concurrency',
  ),
  TIMEOUT: createErrorRow(
    ['runtime', 'infra_error'],
    124,
    504,
    FINAL,
    ['E4001'],
    ['E_TIMEOUT', 'E_DEADLINE'],
    'The deadline passed',
    'Raise the timeout or split the work',
  ),
  HEARTBEAT_MISSED: createErrorRow(
    ['runtime', 'infra_error'],
    124,
    504,
    RETRYABLE,
    ['E4005'],
    ['E_HEARTBEAT_MISSED'],
    'The tool gave no sign of life',
    'Retry with a smaller batch',
  ),
  INTERRUPTED: createErrorRow(
    ['runtime', 'infra_error'],
    1,
    503,
    RETRYABLE,
    ['E4009'],
    [],
    'The runner died during the run',
    'Resume the run',
  ),
  OUTPUT_LIMIT: createErrorRow(
    ['runtime', 'infra_error'],
    1,
    500,
    FINAL,
    ['E4008'],
    [],
    'The tool wrote more than it may',
    'Ask for less output',
  ),
  DISK_FULL: createErrorRow(
    ['runtime', 'infra_error'],
    73,
    507,
    FINAL,
    ['E4006'],
    ['E_DISK_FULL'],
    'No space left on the device',
    'Free space or move the workspace',
  ),
  CANCELLED: createErrorRow(
    ['runtime', 'cancelled'],
    130,
    499,
    FINAL,
    ['E4007'],
    [],
    'The call was cancelled',
    'Stop, unless the user asks again',
  ),
  CONFIG: createErrorRow(
    ['internal', 'user_error'],
    78,
    500,
    FIXABLE,
    ['E5001'],
    [],
    'The configuration is wrong or incomplete',
    'Fix the setting that the message names',
  ),
  INTERNAL: createErrorRow(
    ['internal', 'unknown'],
    1,
    500,
    FINAL,
    ['E5000'],
    ['E_UNKNOWN'],
    'The tool itself failed',
    'Triage: attach the details and the log; do not retry blindly',
  ),
} as const satisfies Record<string, ErrorRow>

/** A code of the table. Tools may use codes of their own besides (`E3101`, `E_MY_THING`). */
export type ErrorCode = keyof typeof ERROR_TABLE

/** What a tool declares about a code of its own. */
export type DeclaredError = {
  readonly category?: ErrorCategory
  readonly message: string
  readonly retryable?: boolean
  readonly recoverable?: boolean
}

/**
 * How the input came: by flags, as JSON (argument, stdin, file), or in an argument list that could
 * not be read at all.
 */
export type InputOrigin = 'flags' | 'json' | 'unreadable'

/** The facts that follow from a code, whoever defined it. */
export type ErrorCodeInfo = {
  readonly category: ErrorCategory
  readonly recoverable: boolean
  readonly retryable: boolean
}

/** True for a code of the table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code)
}

/**
 * The row of a code of the table, also under one of its other names (`E1001`, `E_TIMEOUT`);
 * undefined for tools' own codes.
 */
export function findErrorRow(
  code: string,
): { readonly code: ErrorCode; readonly row: ErrorRow } | undefined {
  if (isErrorCode(code)) return { code, row: ERROR_TABLE[code] }
  const canonical = getCodeByAlias().get(code)
  return canonical && { code: canonical, row: ERROR_TABLE[canonical] }
}

/**
 * Category and both booleans of a code: from the table, else as declared by the tool, else by the
 * first digit (`E3101`), else runtime. Of the numbers `Ex000`–`Ex009` a declaration changes
 * nothing.
 */
export function getErrorInfo(code: string, declared?: DeclaredError): ErrorCodeInfo {
  const known = findErrorRow(code)
  if (known) return known.row
  const own = /^E[1-5]00\d$/.test(code) ? undefined : declared
  const category = own?.category ?? getCategoryByDigit(code)
  return {
    category,
    recoverable: own?.recoverable ?? (category === 'input' || category === 'state'),
    retryable: own?.retryable ?? false,
  }
}

/** The process exit status of an error; `origin` matters only for errors of the input. */
export function toExitCode(
  error: { readonly code: string; readonly category: ErrorCategory; readonly retryable: boolean },
  origin: InputOrigin = 'flags',
): number {
  const known = findErrorRow(error.code)
  if (known?.code === 'INVALID_INPUT') return origin === 'json' ? 65 : 2
  if (known?.code === 'USAGE') return origin === 'unreadable' ? 64 : 2
  if (known) return known.row.exit
  if (error.category === 'input') return origin === 'json' ? 65 : 2
  if (error.category === 'auth') return 77
  return error.category === 'runtime' && error.retryable ? 75 : 1
}

/** The HTTP status of an error. */
export function toHttpStatus(error: {
  readonly code: string
  readonly category: ErrorCategory
  readonly retryable: boolean
}): number {
  const known = findErrorRow(error.code)
  if (known) return known.row.http
  if (error.retryable) return 503
  return { input: 400, auth: 403, state: 409, runtime: 500, internal: 500 }[error.category]
}

/**
 * The name of a code in the run protocol: the specification's `E_…` name where there is one,
 * `E_<CODE>` otherwise; tools' own `E3101` and `E_MY_THING` stay as they are. What will not pass is
 * not called transient.
 */
export function toProtocolCode(code: string, retryable = true): string {
  const known = findErrorRow(code)
  if (!known) return /^E(_|\d{4}$)/.test(code) ? code : `E_${code}`
  return (
    (known.row.class === 'retryable' && !retryable ? undefined : known.row.protocol?.[0]) ??
    `E_${known.code}`
  )
}

// Read back, a foreign name means the first row that lists it; only a missing input is more often a
// thing than a path.
let codeByAlias: Map<string, ErrorCode> | undefined
function getCodeByAlias(): Map<string, ErrorCode> {
  if (codeByAlias) return codeByAlias
  codeByAlias = new Map([['E_INPUT_NOT_FOUND', 'NOT_FOUND']])
  for (const [code, { numbers, protocol = [] }] of Object.entries(ERROR_TABLE) as [
    ErrorCode,
    ErrorRow,
  ][]) {
    for (const name of [...numbers, ...protocol, `E_${code}`])
      if (!codeByAlias.has(name)) codeByAlias.set(name, code)
  }
  return codeByAlias
}

function getCategoryByDigit(code: string): ErrorCategory {
  const digit = /^E([1-5])\d{3}$/.exec(code)?.[1]
  return digit
    ? (['input', 'auth', 'state', 'runtime', 'internal'] as const)[Number(digit) - 1]!
    : 'runtime'
}

/**
 * Every exit status of a program of ours: its name in the orchestration manifest, after sysexits,
 * and its meaning in a word or two.
 */
export const EXIT_STATUSES = [
  { status: 0, name: 'ok', meaning: 'success' },
  { status: 1, name: 'fatal_error', meaning: 'failed' },
  { status: 2, name: 'usage_error', meaning: 'wrong arguments' },
  { status: 64, name: 'syntax_error', meaning: 'unreadable arguments' },
  { status: 65, name: 'data_error', meaning: 'wrong JSON input' },
  { status: 66, name: 'no_input', meaning: 'not found' },
  { status: 69, name: 'unavailable', meaning: 'unavailable' },
  { status: 73, name: 'cannot_create', meaning: 'conflict or full disk' },
  { status: 75, name: 'retryable_error', meaning: 'try again later' },
  { status: 77, name: 'permission_denied', meaning: 'not allowed or not confirmed' },
  { status: 78, name: 'config_error', meaning: 'wrong configuration' },
  { status: 124, name: 'timeout', meaning: 'out of time' },
  { status: 129, name: 'hung_up', meaning: 'hung up' },
  { status: 130, name: 'cancelled', meaning: 'interrupted' },
  { status: 143, name: 'terminated', meaning: 'terminated' },
] as const
