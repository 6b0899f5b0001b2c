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

/** The categories of errors; the first digit of a numbered code (`E3101`) counts them from 1. */
export const ERROR_CATEGORIES = ['input', 'auth', 'state', 'runtime', 'internal'] as const
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number]
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

const FIXABLE = { recoverable: true, retryable: false } as const
const RETRYABLE = { recoverable: false, retryable: true } as const
const FINAL = { recoverable: false, retryable: false } as const

// What rows have in common.
const INPUT = { category: 'input', class: 'user_error', http: 400, ...FIXABLE } as const
const STATE = { category: 'state', class: 'user_error', ...FIXABLE } as const
const POLICY = { category: 'auth', class: 'policy_error', ...FINAL } as const
const TRANSIENT = { category: 'runtime', class: 'retryable', ...RETRYABLE } as const
const INFRA = { category: 'runtime', class: 'infra_error', ...FINAL } as const

/**
 * The one table of error codes. INVALID_INPUT exits 2 when the input came by flags and 65 when it
 * came as JSON.
 */
export const ERROR_TABLE = {
  INVALID_INPUT: {
    ...INPUT,
    exit: 2,
    numbers: ['E1000'],
    protocol: ['E_SCHEMA_MISMATCH'],
    meaning: 'The input does not fit the schema',
    advice:
      'Correct the named field and call again; request a mapping or a schema update if the data is right',
  },
  MISSING_PARAM: {
    ...INPUT,
    exit: 2,
    numbers: ['E1001'],
    meaning: 'A required field is missing',
    advice: 'Add the named field and call again',
  },
  USAGE: {
    ...INPUT,
    exit: 2,
    numbers: ['E1001'],
    meaning: 'Unknown flag or command, or arguments that cannot be parsed',
    advice: 'Read the help of the command and call again',
  },
  INVALID_PATH: {
    ...INPUT,
    exit: 66,
    numbers: ['E1003'],
    protocol: ['E_INPUT_NOT_FOUND'],
    meaning: 'A path given as input does not exist or is of the wrong kind',
    advice: 'Ask the user to fix the path; do not retry as is',
  },
  NOT_FOUND: {
    ...STATE,
    exit: 66,
    http: 404,
    numbers: ['E3001'],
    protocol: ['E_INPUT_NOT_FOUND'],
    meaning: 'The named thing does not exist',
    advice: 'Ask the user to fix the name; do not retry as is',
  },
  CONFLICT: {
    ...STATE,
    exit: 73,
    http: 409,
    numbers: ['E3002'],
    meaning: 'The request contradicts the present state',
    advice: 'Read the present state, then change the request',
  },
  PRECONDITION: {
    ...STATE,
    exit: 1,
    http: 412,
    numbers: ['E3000'],
    meaning: 'Something has to be done first',
    advice: 'Do what the message names, then call again',
  },
  PERMISSION: {
    ...POLICY,
    exit: 77,
    http: 403,
    numbers: ['E2000'],
    protocol: ['E_PERMISSION'],
    meaning: 'Not allowed',
    advice: 'Adjust permissions; do not retry',
  },
  CONFIRMATION_REQUIRED: {
    category: 'auth',
    class: 'user_error',
    ...FIXABLE,
    exit: 77,
    http: 403,
    numbers: ['E2003'],
    meaning: 'A destructive call needs a confirmation',
    advice: 'Ask the user, then confirm the call',
  },
  SANDBOX_UNAVAILABLE: {
    ...POLICY,
    exit: 69,
    http: 503,
    numbers: [],
    protocol: ['E_SANDBOX_UNAVAILABLE'],
    meaning: 'The machine cannot enforce what the tool needs',
    advice: 'Run on a machine that can, or ask the operator to allow a lower level',
  },
  ANSWER_REQUIRED: {
    ...STATE,
    exit: 77,
    http: 409,
    numbers: [],
    meaning: 'The tool asks a question and nobody can answer',
    advice: 'Answer with the command that the message names',
  },
  DEPENDENCY: {
    ...TRANSIENT,
    exit: 69,
    http: 502,
    numbers: ['E4002'],
    protocol: ['E_TRANSIENT_NET'],
    meaning: 'Something the tool depends on did not work',
    advice: 'Retry with backoff, three times at most',
  },
  RATE_LIMIT: {
    ...TRANSIENT,
    exit: 75,
    http: 429,
    numbers: ['E4003'],
    protocol: ['E_RATE_LIMIT'],
    meaning: 'Too many calls',
    advice: 'Back off and lower the concurrency',
  },
  TIMEOUT: {
    ...INFRA,
    exit: 124,
    http: 504,
    numbers: ['E4001'],
    protocol: ['E_TIMEOUT', 'E_DEADLINE'],
    meaning: 'The deadline passed',
    advice: 'Raise the timeout or split the work',
  },
  HEARTBEAT_MISSED: {
    ...INFRA,
    ...RETRYABLE,
    exit: 124,
    http: 504,
    numbers: ['E4005'],
    protocol: ['E_HEARTBEAT_MISSED'],
    meaning: 'The tool gave no sign of life',
    advice: 'Retry with a smaller batch',
  },
  INTERRUPTED: {
    ...INFRA,
    ...RETRYABLE,
    exit: 1,
    http: 503,
    numbers: ['E4009'],
    meaning: 'The runner died during the run',
    advice: 'Resume the run',
  },
  OUTPUT_LIMIT: {
    ...INFRA,
    exit: 1,
    http: 500,
    numbers: ['E4008'],
    meaning: 'The tool wrote more than it may',
    advice: 'Ask for less output',
  },
  DISK_FULL: {
    ...INFRA,
    exit: 73,
    http: 507,
    numbers: ['E4006'],
    protocol: ['E_DISK_FULL'],
    meaning: 'No space left on the device',
    advice: 'Free space or move the workspace',
  },
  CANCELLED: {
    category: 'runtime',
    class: 'cancelled',
    ...FINAL,
    exit: 130,
    http: 499,
    numbers: ['E4007'],
    meaning: 'The call was cancelled',
    advice: 'Stop, unless the user asks again',
  },
  CONFIG: {
    category: 'internal',
    class: 'user_error',
    ...FIXABLE,
    exit: 78,
    http: 500,
    numbers: ['E5001'],
    meaning: 'The configuration is wrong or incomplete',
    advice: 'Fix the setting that the message names',
  },
  INTERNAL: {
    category: 'internal',
    class: 'unknown',
    ...FINAL,
    exit: 1,
    http: 500,
    numbers: ['E5000'],
    protocol: ['E_UNKNOWN'],
    meaning: 'The tool itself failed',
    advice: 'Triage: attach the details and the log; do not retry blindly',
  },
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

/** What decides about the status of an error. */
type ClassifiedError = {
  readonly code: string
  readonly category: ErrorCategory
  readonly retryable: boolean
}

/** The process exit status of an error; `origin` matters only for errors of the input. */
export function toExitCode(error: ClassifiedError, origin: InputOrigin = 'flags'): number {
  const known = findErrorRow(error.code)
  if (known?.code === 'INVALID_INPUT') return origin === 'json' ? 65 : 2
  if (known?.code === 'USAGE') return origin === 'unreadable' ? 64 : 2
  if (known) return known.row.exit
  if (error.category === 'input') return origin === 'json' ? 65 : 2
  if (error.category === 'auth') return 77
  return error.category === 'runtime' && error.retryable ? 75 : 1
}

/** The HTTP status of an error. */
export function toHttpStatus(error: ClassifiedError): number {
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
  const { row } = known
  const name = row.class === 'retryable' && !retryable ? undefined : row.protocol?.[0]
  return name ?? `E_${known.code}`
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
  return digit === undefined ? 'runtime' : ERROR_CATEGORIES[Number(digit) - 1]!
}
