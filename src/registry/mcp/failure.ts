import { isObject } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { httpCode } from '../http/status.ts'
import type { Session } from './session.ts'
import type { McpSettings } from './settings.ts'

const RPC = {
  invalidParams: -32602,
  unknownMethod: -32601,
  notFound: -32002,
  missingCapability: -32021,
  urlRequired: -32042,
} as const
const LONGEST = 2000
const CREDENTIALS = "Give it credentials: headers: { Authorization: 'Bearer ${TOKEN}' }"

/** What went wrong with a server, as an error that names it. `what` is what was wanted of it. */
export function toFailure(
  thrown: unknown,
  what: string,
  settings: McpSettings,
  session?: Session,
): ToolError {
  if (ToolError.is(thrown)) return thrown
  const named = `MCP server '${settings.name}'`
  const error = thrown as {
    readonly code?: unknown
    readonly data?: unknown
    readonly message?: string
    readonly cause?: unknown
  }
  const message = hide(shorten(String(error?.message ?? thrown), LONGEST), settings)
  if (ToolError.is(error?.cause))
    return new ToolError(error.cause.code, `${named}: ${error.cause.message}`, {
      ...error.cause.toObject(),
      cause: thrown,
    })
  if (session?.ended()) return endedFailure(what, settings, session, thrown)
  if (typeof error?.code === 'number')
    return protocolFailure(error.code, message, error.data, named, thrown)
  const status =
    isObject(error?.data) && typeof error.data['status'] === 'number'
      ? error.data['status']
      : undefined
  if (status !== undefined)
    return statusFailure(status, message, named, settings, session !== undefined, thrown)
  if ((thrown as Error)?.name === 'UnauthorizedError')
    return new ToolError('PERMISSION', `${named} wants to know who calls: ${message}`, {
      suggestion: CREDENTIALS,
      cause: thrown,
    })
  if (error?.code === 'INVALID_RESULT' || error?.code === 'UNSUPPORTED_RESULT_TYPE')
    return new ToolError(
      'DEPENDENCY',
      `${named} gave an answer to ${what} that the protocol does not allow: ${shorten(message, 500)}`,
      {
        retryable: false,
        suggestion: {
          action: 'use_different_tool',
          fix: 'The author of the server should mend it',
        },
        cause: thrown,
      },
    )
  const system = deepestCause(thrown)
  return new ToolError(
    'DEPENDENCY',
    `${named} did not answer ${what}: ${message}${system === undefined ? '' : ` (${system})`}`,
    { suggestion: suggestionFor(settings), cause: thrown },
  )
}

// A server that does not know the address of a session any more was started anew; the next call opens another one.
function statusFailure(
  status: number,
  message: string,
  named: string,
  { location }: McpSettings,
  inSession: boolean,
  cause: unknown,
): ToolError {
  const isRefused = status === 401 || status === 403
  return new ToolError(
    status === 404 ? 'DEPENDENCY' : httpCode(status),
    `${named} answered with HTTP status ${status}: ${message}`,
    {
      ...(status >= 400 &&
        status < 500 &&
        status !== 429 && { retryable: status === 404 && inSession }),
      suggestion: isRefused
        ? CREDENTIALS
        : status === 404 && inSession
          ? 'Call again: a new session is opened'
          : `Try it by hand: curl -i ${location}`,
      cause,
    },
  )
}

// What the system said stands below the words of two libraries.
function deepestCause(thrown: unknown): string | undefined {
  let error = thrown
  let said: string | undefined
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth += 1) {
    const { code, message, cause, data } = error as {
      readonly code?: unknown
      readonly message?: unknown
      readonly cause?: unknown
      readonly data?: unknown
    }
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+)$/.test(code)) return code
    if (depth > 0 && typeof message === 'string') said = message
    error = cause ?? (isObject(data) ? data['cause'] : undefined)
  }
  return said
}

/** Says that the server is over, and what it said before. */
export function endedFailure(
  what: string,
  settings: McpSettings,
  session: Pick<Session, 'describeEnd' | 'errorTail' | 'overflowed'>,
  cause?: unknown,
): ToolError {
  const tail = hide(session.errorTail(), settings)
  const message = `MCP server '${settings.name}' ended during ${what}: ${hide(session.describeEnd() ?? 'the connection was closed', settings)}`
  const details = { ...(tail !== '' && { stderr: tail }) }
  if (session.overflowed())
    return new ToolError('OUTPUT_LIMIT', message, {
      details,
      suggestion: 'Ask for less: narrow the input of the call',
      cause,
    })
  return new ToolError('DEPENDENCY', message, {
    retryable: true,
    details,
    suggestion: 'Call again: the server is started anew',
    cause,
  })
}

/** A text without the secrets of the configuration. */
export function hide(text: string, { secrets }: Pick<McpSettings, 'secrets'>): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

/** What to try by hand. */
export function suggestionFor({ place, location }: McpSettings): string {
  return 'stdio' in place
    ? `Start it by hand and look what it says: ${location}`
    : `Look whether it is there: curl -i ${location}`
}

function protocolFailure(
  code: number,
  message: string,
  data: unknown,
  named: string,
  cause: unknown,
): ToolError {
  const details = { rpc: { code, ...(data !== undefined && { data }) } }
  const said = `${named}: ${message}`
  if (
    code === RPC.notFound ||
    (code === RPC.invalidParams && isObject(data) && typeof data['uri'] === 'string')
  )
    return new ToolError('NOT_FOUND', said, { details, cause })
  if (code === RPC.invalidParams) return new ToolError('INVALID_INPUT', said, { details, cause })
  if (code === RPC.missingCapability)
    return new ToolError('ANSWER_REQUIRED', said, {
      details,
      suggestion: 'Give the registry somebody who answers: the options answer and sample',
      cause,
    })
  if (code === RPC.urlRequired)
    return new ToolError('PRECONDITION', said, {
      details,
      suggestion: 'Open the address in the details, finish there, then call again',
      cause,
    })
  if (code === RPC.unknownMethod)
    return new ToolError('DEPENDENCY', said, { retryable: false, details, cause })
  return new ToolError('INTERNAL', said, { details, cause })
}
