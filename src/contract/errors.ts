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
  /** Names of the run protocol (`E_TIMEOUT`), first the one we write; absent where the protocol has none. */
  readonly protocol?: readonly string[]
  readonly meaning: string
  /** What an agent should do by default. */
  readonly advice: string
}

const row = (
  [category, errorClass]: readonly [ErrorCategory, ErrorClass],
  exit: number,
  http: number,
  [recoverable, retryable]: readonly [boolean, boolean],
  numbers: readonly string[],
  protocol: readonly string[],
  meaning: string,
  advice: string,
): ErrorRow => ({
  category,
  class: errorClass,
  exit,
  http,
  recoverable,
  retryable,
  numbers,
  ...(protocol.length > 0 && { protocol }),
  meaning,
  advice,
})

const FIX = [true, false] as const
const RETRY = [false, true] as const
const NEITHER = [false, false] as const

/** The one table of error codes. INVALID_INPUT exits 2 when the input came by flags and 65 when it came as JSON. */
export const ERROR_TABLE = {
  INVALID_INPUT: row(
    ['input', 'user_error'],
    2,
    400,
    FIX,
    ['E1000'],
    ['E_SCHEMA_MISMATCH'],
    'The input does not fit the schema',
    'Correct the named field and call again; request a mapping or a schema update if the data is right',
  ),
  MISSING_PARAM: row(
    ['input', 'user_error'],
    2,
    400,
    FIX,
    ['E1001'],
    [],
    'A required field is missing',
    'Add the named field and call again',
  ),
  USAGE: row(
    ['input', 'user_error'],
    2,
    400,
    FIX,
    ['E1001'],
    [],
    'Unknown flag or command, or arguments that cannot be parsed',
    'Read the help of the command and call again',
  ),
  INVALID_PATH: row(
    ['input', 'user_error'],
    66,
    400,
    FIX,
    ['E1003'],
    ['E_INPUT_NOT_FOUND'],
    'A path given as input does not exist or is of the wrong kind',
    'Ask the user to fix the path; do not retry as is',
  ),
  NOT_FOUND: row(
    ['state', 'user_error'],
    66,
    404,
    FIX,
    ['E3001'],
    ['E_INPUT_NOT_FOUND'],
    'The named thing does not exist',
    'Ask the user to fix the name; do not retry as is',
  ),
  CONFLICT: row(
    ['state', 'user_error'],
    73,
    409,
    FIX,
    ['E3002'],
    [],
    'The request contradicts the present state',
    'Read the present state, then change the request',
  ),
  PRECONDITION: row(
    ['state', 'user_error'],
    1,
    412,
    FIX,
    ['E3000'],
    [],
    'Something has to be done first',
    'Do what the message names, then call again',
  ),
  PERMISSION: row(
    ['auth', 'policy_error'],
    77,
    403,
    NEITHER,
    ['E2000'],
    ['E_PERMISSION'],
    'Not allowed',
    'Adjust permissions; do not retry',
  ),
  CONFIRMATION_REQUIRED: row(
    ['auth', 'user_error'],
    77,
    403,
    FIX,
    ['E2003'],
    [],
    'A destructive call needs a confirmation',
    'Ask the user, then confirm the call',
  ),
  SANDBOX_UNAVAILABLE: row(
    ['auth', 'policy_error'],
    69,
    503,
    NEITHER,
    [],
    ['E_SANDBOX_UNAVAILABLE'],
    'The machine cannot enforce what the tool needs',
    'Run on a machine that can, or ask the operator to allow a lower level',
  ),
  ANSWER_REQUIRED: row(
    ['state', 'user_error'],
    77,
    409,
    FIX,
    [],
    [],
    'The tool asks a question and nobody can answer',
    'Answer with the command that the message names',
  ),
  DEPENDENCY: row(
    ['runtime', 'retryable'],
    69,
    502,
    RETRY,
    ['E4002'],
    ['E_TRANSIENT_NET'],
    'Something the tool depends on did not work',
    'Retry with backoff, three times at most',
  ),
  RATE_LIMIT: row(
    ['runtime', 'retryable'],
    75,
    429,
    RETRY,
    ['E4003'],
    ['E_RATE_LIMIT'],
    'Too many calls',
    'Back off and lower the concurrency',
  ),
  TIMEOUT: row(
    ['runtime', 'infra_error'],
    124,
    504,
    NEITHER,
    ['E4001'],
    ['E_TIMEOUT', 'E_DEADLINE'],
    'The deadline passed',
    'Raise the timeout or split the work',
  ),
  HEARTBEAT_MISSED: row(
    ['runtime', 'infra_error'],
    124,
    504,
    RETRY,
    ['E4005'],
    ['E_HEARTBEAT_MISSED'],
    'The tool gave no sign of life',
    'Retry with a smaller batch',
  ),
  INTERRUPTED: row(
    ['runtime', 'infra_error'],
    1,
    503,
    RETRY,
    ['E4009'],
    [],
    'The runner died during the run',
    'Resume the run',
  ),
  OUTPUT_LIMIT: row(
    ['runtime', 'infra_error'],
    1,
    500,
    NEITHER,
    ['E4008'],
    [],
    'The tool wrote more than it may',
    'Ask for less output',
  ),
  DISK_FULL: row(
    ['runtime', 'infra_error'],
    73,
    507,
    NEITHER,
    ['E4006'],
    ['E_DISK_FULL'],
    'No space left on the device',
    'Free space or move the workspace',
  ),
  CANCELLED: row(
    ['runtime', 'cancelled'],
    130,
    499,
    NEITHER,
    ['E4007'],
    [],
    'The call was cancelled',
    'Stop, unless the user asks again',
  ),
  CONFIG: row(
    ['internal', 'user_error'],
    78,
    500,
    FIX,
    ['E5001'],
    [],
    'The configuration is wrong or incomplete',
    'Fix the setting that the message names',
  ),
  INTERNAL: row(
    ['internal', 'unknown'],
    1,
    500,
    NEITHER,
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

/** How the input came: by flags, as JSON (argument, stdin, file), or in an argument list that could not be read at all. */
export type InputOrigin = 'flags' | 'json' | 'unreadable'

/** The facts that follow from a code, whoever defined it. */
export type CodeFacts = {
  readonly category: ErrorCategory
  readonly recoverable: boolean
  readonly retryable: boolean
}

/** True for a code of the table. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, code)
}

/** The row of a code of the table, also under one of its other names (`E1001`, `E_TIMEOUT`); undefined for tools' own codes. */
export function findRow(
  code: string,
): { readonly code: ErrorCode; readonly row: ErrorRow } | undefined {
  if (isErrorCode(code)) return { code, row: ERROR_TABLE[code] }
  const canonical = aliases().get(code)
  return canonical && { code: canonical, row: ERROR_TABLE[canonical] }
}

/** Category and both booleans of a code: from the table, else as declared by the tool, else by the first digit (`E3101`), else runtime. Of the numbers `Ex000`–`Ex009` a declaration changes nothing. */
export function factsOf(code: string, declared?: DeclaredError): CodeFacts {
  const known = findRow(code)
  if (known) return known.row
  const own = /^E[1-5]00\d$/.test(code) ? undefined : declared
  const category = own?.category ?? categoryByDigit(code)
  return {
    category,
    recoverable: own?.recoverable ?? (category === 'input' || category === 'state'),
    retryable: own?.retryable ?? false,
  }
}

/** The process exit status of an error; `origin` matters only for errors of the input. */
export function exitCodeOf(
  error: { readonly code: string; readonly category: ErrorCategory; readonly retryable: boolean },
  origin: InputOrigin = 'flags',
): number {
  const known = findRow(error.code)
  if (known?.code === 'INVALID_INPUT') return origin === 'json' ? 65 : 2
  if (known?.code === 'USAGE') return origin === 'unreadable' ? 64 : 2
  if (known) return known.row.exit
  if (error.category === 'input') return origin === 'json' ? 65 : 2
  if (error.category === 'auth') return 77
  return error.category === 'runtime' && error.retryable ? 75 : 1
}

/** The HTTP status of an error. */
export function httpStatusOf(error: {
  readonly code: string
  readonly category: ErrorCategory
  readonly retryable: boolean
}): number {
  const known = findRow(error.code)
  if (known) return known.row.http
  if (error.retryable) return 503
  return { input: 400, auth: 403, state: 409, runtime: 500, internal: 500 }[error.category]
}

/** The name of a code in the run protocol: the specification's `E_…` name where there is one, `E_<CODE>` otherwise; tools' own `E3101` and `E_MY_THING` stay as they are. What will not pass is not called transient. */
export function protocolName(code: string, retryable = true): string {
  const known = findRow(code)
  if (!known) return /^E(_|\d{4}$)/.test(code) ? code : `E_${code}`
  return (
    (known.row.class === 'retryable' && !retryable ? undefined : known.row.protocol?.[0]) ??
    `E_${known.code}`
  )
}

// Read back, a foreign name means the first row that lists it; only a missing input is more often a thing than a path.
let aliasMap: Map<string, ErrorCode> | undefined
function aliases(): Map<string, ErrorCode> {
  if (aliasMap) return aliasMap
  aliasMap = new Map([['E_INPUT_NOT_FOUND', 'NOT_FOUND']])
  for (const [code, { numbers, protocol = [] }] of Object.entries(ERROR_TABLE) as [
    ErrorCode,
    ErrorRow,
  ][]) {
    for (const name of [...numbers, ...protocol, `E_${code}`])
      if (!aliasMap.has(name)) aliasMap.set(name, code)
  }
  return aliasMap
}

function categoryByDigit(code: string): ErrorCategory {
  const digit = /^E([1-5])\d{3}$/.exec(code)?.[1]
  return digit
    ? (['input', 'auth', 'state', 'runtime', 'internal'] as const)[Number(digit) - 1]!
    : 'runtime'
}
