/**
 * One connection to an MCP server, and the errors that name the server.
 */

import type { Client, Transport } from '@modelcontextprotocol/client'
import type { ErrorCode } from '../../protocol/errors.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { waitAtMost } from '../../util/async.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { asObject, compact } from '../../util/values.ts'
import { toErrorCode } from '../http.ts'
import type { McpSettings } from './transports.ts'
import { openHttpTransport, StdioTransport } from './transports.ts'

/** What a session reports and asks outside of the answers to our requests. */
export type McpSessionHooks = {
  readonly capabilities: { readonly [Capability in keyof typeof SERVER_REQUESTS]: boolean }
  answer(method: string, params: JsonObject): Promise<JsonObject>
  log(level: string, text: string): void
  listChanged(): void
  /** The connection is over, whichever side ended it. */
  closed(session: McpClientSession): void
}

/** What a server may ask, by the capability that allows it. */
const SERVER_REQUESTS = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
} as const

/** One connection to a server, from its first answer to its end. */
export type McpClientSession = {
  readonly client: Client
  readonly isModern: boolean
  ended(): boolean
  describeEnd(): string | undefined
  errorTail(): string
  overflowed(): boolean
  /** Sets whether a server that is our child keeps our process alive. */
  keepAlive(alive: boolean): void
  close(): Promise<void>
}

/** What is kept between two sessions: which protocol era the server speaks. */
export type ServerEra = { legacy?: boolean; sse?: boolean }

type ConnectAttempt = { readonly transport: Transport; readonly legacy: boolean }

/** A failed attempt to connect, and what the server wrote before. */
export type FailedConnectAttempt = {
  readonly end: string | undefined
  readonly errorTail: string
  readonly overflowed: boolean
}

const MAX_LIST_PAGES = 200
const TERMINATE_TIMEOUT_MS = 1000

/** Connects to a server. Throws what the SDK throws, and reports each attempt that failed. */
export async function openMcpSession(
  settings: McpSettings,
  hooks: McpSessionHooks,
  era: ServerEra,
  failed: (attempt: FailedConnectAttempt) => void,
): Promise<McpClientSession> {
  const { place } = settings
  const connect = (attempt: ConnectAttempt): Promise<McpClientSession> =>
    connectSession(attempt, settings, hooks, era, failed)
  const first: ConnectAttempt = {
    transport: await openTransport(place, era.sse === true),
    legacy: era.legacy === true || isSse(place, era.sse === true),
  }
  try {
    return await connect(first)
  } catch (error) {
    if (!isWorthSecondAttempt(error, first, place)) throw error
    try {
      return await connect({ transport: await openTransport(place, true), legacy: true })
    } catch (again) {
      throw 'stdio' in place ? again : error
    }
  }
}

function isSse(place: McpSettings['place'], isFallback: boolean): boolean {
  if ('stdio' in place) return false
  return place.http.type === 'sse' || (place.http.type === undefined && isFallback)
}

async function openTransport(place: McpSettings['place'], isFallback: boolean): Promise<Transport> {
  if ('stdio' in place) return new StdioTransport(place.stdio)
  return openHttpTransport(place.http, isSse(place, isFallback) ? 'sse' : 'http')
}

// Some older servers end at a request that they do not know, and the oldest ones speak another
// transport.
function isWorthSecondAttempt(
  error: unknown,
  { transport, legacy }: ConnectAttempt,
  place: McpSettings['place'],
): boolean {
  if (legacy) return false
  const { code, data } = error as SdkError
  if ('stdio' in place)
    return code === 'ERA_NEGOTIATION_FAILED' && (transport as StdioTransport).pid !== null
  const isRefused = [400, 404, 405].includes(Number(asObject(data)?.['status']))
  return place.http.type === undefined && isRefused
}

async function connectSession(
  { transport, legacy }: ConnectAttempt,
  settings: McpSettings,
  hooks: McpSessionHooks,
  era: ServerEra,
  failed: (attempt: FailedConnectAttempt) => void,
): Promise<McpClientSession> {
  const client = await createClient(settings, hooks)
  let over = false
  const stdio = transport instanceof StdioTransport ? transport : undefined
  const session: McpClientSession = {
    client,
    get isModern() {
      return client.getProtocolEra() === 'modern'
    },
    ended: () => over,
    describeEnd: () => stdio?.describeEnd(),
    errorTail: () => stdio?.errorTail() ?? '',
    overflowed: () => stdio?.overflowed === true,
    keepAlive: (alive) => stdio?.keepAlive(alive),
    close: () => closeSession(client, transport),
  }
  const timeout = settings.startTimeout
  const prior = legacy ? { kind: 'legacy' as const } : undefined
  try {
    const connecting = client.connect(transport, compact({ timeout, prior })).then(() => true)
    if (!(await waitAtMost(timeout, connecting)))
      throw new Error(`there was no answer within ${timeout / 1000} seconds`)
  } catch (error) {
    // Read before it is closed: afterwards every server has ended.
    const end = session.describeEnd()
    await transport.close().catch(() => {})
    failed({ end, errorTail: session.errorTail(), overflowed: session.overflowed() })
    throw error
  }
  client.onclose = () => {
    over = true
    hooks.closed(session)
  }
  era.legacy = !session.isModern
  era.sse = transport.constructor.name === 'SSEClientTransport'
  await subscribeToChanges(session)
  return session
}

async function createClient(
  { startTimeout }: McpSettings,
  { capabilities, answer, log, listChanged }: McpSessionHooks,
): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client')
  const client = new Client(
    { name: 'toolable', version: '0.1.0' },
    {
      capabilities: compact({
        elicitation: capabilities.elicitation
          ? { form: { applyDefaults: true }, url: {} }
          : undefined,
        sampling: capabilities.sampling ? {} : undefined,
        roots: capabilities.roots ? {} : undefined,
      }),
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: startTimeout / 2 } },
      listMaxPages: MAX_LIST_PAGES,
      // The call pipeline checks results.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
    },
  )
  for (const [capability, method] of Object.entries(SERVER_REQUESTS))
    if (capabilities[capability as keyof typeof SERVER_REQUESTS])
      client.setRequestHandler(
        method,
        async ({ params }) => (await answer(method, asObject(params) ?? {})) as never,
      )
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) =>
    log(level, typeof data === 'string' ? data : JSON.stringify(data)),
  )
  for (const list of ['tools', 'resources', 'prompts'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => listChanged())
  return client
}

// Older servers report changes unasked, and write logs on request.
async function subscribeToChanges({ client, isModern }: McpClientSession): Promise<void> {
  const { tools, resources, prompts, logging } = client.getServerCapabilities() ?? {}
  if (!isModern) {
    if (logging) void client.setLoggingLevel('info').catch(() => {})
    return
  }
  const filter = compact({
    toolsListChanged: tools?.listChanged ? true : undefined,
    resourcesListChanged: resources?.listChanged ? true : undefined,
    promptsListChanged: prompts?.listChanged ? true : undefined,
  })
  if (Object.keys(filter).length > 0) void client.listen(filter).catch(() => {})
}

async function closeSession(client: Client, transport: Transport): Promise<void> {
  const { terminateSession } = transport as { terminateSession?(): Promise<void> }
  if (terminateSession)
    await waitAtMost(TERMINATE_TIMEOUT_MS, terminateSession.call(transport)).catch(() => {})
  await client.close().catch(() => {})
  await transport.close().catch(() => {})
}

/** What the SDK throws, as far as it is read here. */
type SdkError = {
  readonly name?: string
  readonly code?: unknown
  readonly data?: unknown
  readonly message?: string
  readonly cause?: unknown
}

const INVALID_PARAMS = -32602
const RESOURCE_NOT_FOUND = -32002
const RPC_ERRORS: {
  readonly [code: number]: {
    readonly code: ErrorCode
    readonly suggestion?: string
    readonly retryable?: boolean
  }
} = {
  [RESOURCE_NOT_FOUND]: { code: 'NOT_FOUND' },
  [INVALID_PARAMS]: { code: 'INVALID_INPUT' },
  // An unknown method.
  [-32601]: { code: 'DEPENDENCY', retryable: false },
  // A capability that the client does not have.
  [-32021]: {
    code: 'ANSWER_REQUIRED',
    suggestion: 'Give the registry somebody who answers: the options answer and sample',
  },
  // An address that a person has to open first.
  [-32042]: {
    code: 'PRECONDITION',
    suggestion: 'Open the address in the details, finish there, then call again',
  },
}
const MAX_MESSAGE_LENGTH = 2000
const CREDENTIALS_HINT = "Give it credentials: headers: { Authorization: 'Bearer ${TOKEN}' }"

/** Converts an error of a server into one that names it. `what` names the request. */
export function toServerError(
  thrown: unknown,
  what: string,
  settings: McpSettings,
  session?: McpClientSession,
): ToolError {
  if (ToolError.is(thrown)) return thrown
  const named = `MCP server '${settings.name}'`
  const error = (thrown ?? {}) as SdkError
  const message = hideSecrets(
    shorten(String(error.message ?? thrown), MAX_MESSAGE_LENGTH),
    settings,
  )
  if (ToolError.is(error.cause))
    return new ToolError(error.cause.code, `${named}: ${error.cause.message}`, {
      ...error.cause.toObject(),
      cause: thrown,
    })
  if (session?.ended()) return toServerEndedError(what, settings, session, thrown)
  if (typeof error.code === 'number')
    return toProtocolError(error.code, message, error.data, named, thrown)
  const status = asObject(error.data)?.['status']
  if (typeof status === 'number')
    return toHttpStatusError(status, message, named, settings, session !== undefined, thrown)
  if (error.name === 'UnauthorizedError')
    return new ToolError('PERMISSION', `${named} wants to know who calls: ${message}`, {
      suggestion: CREDENTIALS_HINT,
      cause: thrown,
    })
  if (error.code === 'INVALID_RESULT' || error.code === 'UNSUPPORTED_RESULT_TYPE')
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
  const system = findDeepestCause(thrown)
  return new ToolError(
    'DEPENDENCY',
    `${named} did not answer ${what}: ${message}${system === undefined ? '' : ` (${system})`}`,
    { suggestion: suggestManualCheck(settings), cause: thrown },
  )
}

// A server that does not know a session any more was restarted; the next call opens another one.
function toHttpStatusError(
  status: number,
  message: string,
  named: string,
  { location }: McpSettings,
  inSession: boolean,
  cause: unknown,
): ToolError {
  const isForgotten = status === 404 && inSession
  const isOurFault = status >= 400 && status < 500 && status !== 429
  let suggestion = `Try it by hand: curl -i ${location}`
  if (status === 401 || status === 403) suggestion = CREDENTIALS_HINT
  if (isForgotten) suggestion = 'Call again: a new session is opened'
  return new ToolError(
    status === 404 ? 'DEPENDENCY' : toErrorCode(status),
    `${named} answered with HTTP status ${status}: ${message}`,
    compact({ retryable: isOurFault ? isForgotten : undefined, suggestion, cause }),
  )
}

// The error of the system is nested inside those of two libraries.
function findDeepestCause(thrown: unknown): string | undefined {
  let error = thrown
  let said: string | undefined
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth += 1) {
    const { code, message, cause, data } = error as SdkError
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_\w+)$/.test(code)) return code
    if (depth > 0 && typeof message === 'string') said = message
    error = cause ?? asObject(data)?.['cause']
  }
  return said
}

/** The error for a server that ended, with the last lines of its stderr. */
export function toServerEndedError(
  what: string,
  settings: McpSettings,
  session: Pick<McpClientSession, 'describeEnd' | 'errorTail' | 'overflowed'>,
  cause?: unknown,
): ToolError {
  const tail = hideSecrets(session.errorTail(), settings)
  const message = `MCP server '${settings.name}' ended during ${what}: ${hideSecrets(session.describeEnd() ?? 'the connection was closed', settings)}`
  const details = compact({ stderr: tail !== '' ? tail : undefined })
  if (session.overflowed()) {
    const suggestion = 'Ask for less: narrow the input of the call'
    return new ToolError('OUTPUT_LIMIT', message, { details, suggestion, cause })
  }
  const suggestion = 'Call again: the server is started anew'
  return new ToolError('DEPENDENCY', message, { retryable: true, details, suggestion, cause })
}

/** Replaces the secrets of the configuration in a text. */
export function hideSecrets(text: string, { secrets }: Pick<McpSettings, 'secrets'>): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

/** A suggestion for checking the server by hand. */
export function suggestManualCheck({ place, location }: McpSettings): string {
  return 'stdio' in place
    ? `Start it by hand and look what it says: ${location}`
    : `Look whether it is there: curl -i ${location}`
}

function toProtocolError(
  code: number,
  message: string,
  data: unknown,
  named: string,
  cause: unknown,
): ToolError {
  const isAboutResource = code === INVALID_PARAMS && typeof asObject(data)?.['uri'] === 'string'
  const known = RPC_ERRORS[isAboutResource ? RESOURCE_NOT_FOUND : code] ?? { code: 'INTERNAL' }
  return new ToolError(known.code, `${named}: ${message}`, {
    ...known,
    details: { rpc: compact({ code, data }) },
    cause,
  })
}
