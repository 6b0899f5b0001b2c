/**
 * One connection to an MCP server, and the errors that name the server.
 */

import type { Client, Transport } from '@modelcontextprotocol/client'
import { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import { toErrorCode } from '../http.ts'
import { openHttpTransport, StdioTransport } from './transports.ts'
import type { McpSettings } from './transports.ts'

/** What a session tells and asks on its own account. */
export type McpSessionHooks = {
  readonly capabilities: {
    readonly elicitation: boolean
    readonly sampling: boolean
    readonly roots: boolean
  }
  answer(method: string, params: JsonObject): Promise<JsonObject>
  log(level: string, text: string): void
  listChanged(): void
  /** The connection is over, whoever ended it. */
  closed(session: McpClientSession): void
}

/** One connection to a server, from its first answer to its end. */
export type McpClientSession = {
  readonly client: Client
  readonly isModern: boolean
  ended(): boolean
  describeEnd(): string | undefined
  errorTail(): string
  overflowed(): boolean
  /** Whether a server that is our child keeps our own process alive. */
  keepAlive(alive: boolean): void
  close(): Promise<void>
}

/** What is remembered about a server between two sessions: which era it speaks. */
export type ServerEra = { legacy?: boolean; sse?: boolean }

type ConnectAttempt = { readonly transport: Transport; readonly legacy: boolean }

/** An attempt to connect that failed, and what the server said before it was given up. */
export type FailedConnectAttempt = {
  readonly end: string | undefined
  readonly errorTail: string
  readonly overflowed: boolean
}

const MAX_LIST_PAGES = 200

/**
 * Connects to a server; throws what the SDK throws, and tells what is known of each attempt that
 * failed.
 */
export async function openMcpSession(
  settings: McpSettings,
  hooks: McpSessionHooks,
  verdict: ServerEra,
  failed: (attempt: FailedConnectAttempt) => void,
): Promise<McpClientSession> {
  const { place } = settings
  const type = 'http' in place ? (place.http.type ?? (verdict.sse ? 'sse' : 'http')) : undefined
  const make = async (wanted = type): Promise<Transport> =>
    'stdio' in place ? new StdioTransport(place.stdio) : openHttpTransport(place.http, wanted!)
  const first: ConnectAttempt = {
    transport: await make(),
    legacy: verdict.legacy === true || type === 'sse',
  }
  try {
    return await connectSession(first, settings, hooks, verdict, failed)
  } catch (error) {
    const second = await planSecondAttempt(error, first, settings, make)
    if (!second) throw error
    try {
      return await connectSession(second, settings, hooks, verdict, failed)
    } catch (again) {
      throw 'stdio' in place ? again : error
    }
  }
}

// Some older servers end at a request that they do not know, and the oldest ones speak another
// transport.
async function planSecondAttempt(
  error: unknown,
  { transport, legacy }: ConnectAttempt,
  { place }: McpSettings,
  make: (type?: 'http' | 'sse') => Promise<Transport>,
): Promise<ConnectAttempt | undefined> {
  if ('stdio' in place)
    return !legacy &&
      (error as { code?: unknown }).code === 'ERA_NEGOTIATION_FAILED' &&
      (transport as StdioTransport).pid !== null
      ? { transport: await make(), legacy: true }
      : undefined
  const status = (error as { data?: { status?: unknown } }).data?.status
  return place.http.type === undefined &&
    !legacy &&
    (status === 404 || status === 405 || status === 400)
    ? { transport: await make('sse'), legacy: true }
    : undefined
}

async function connectSession(
  { transport, legacy }: ConnectAttempt,
  settings: McpSettings,
  hooks: McpSessionHooks,
  verdict: ServerEra,
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
  const limit = createTimeLimit(settings.startTimeout)
  try {
    await Promise.race([
      limit.passed,
      client.connect(
        transport,
        compact({
          timeout: settings.startTimeout,
          prior: legacy ? { kind: 'legacy' as const } : undefined,
        }),
      ),
    ])
  } catch (error) {
    // Looked at before it is closed: afterwards every server has ended.
    const end = session.describeEnd()
    await transport.close().catch(() => {})
    failed({ end, errorTail: session.errorTail(), overflowed: session.overflowed() })
    throw error
  } finally {
    limit.clear()
  }
  client.onclose = () => {
    over = true
    hooks.closed(session)
  }
  verdict.legacy = !session.isModern
  verdict.sse = transport.constructor.name === 'SSEClientTransport'
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
      // Results are checked by the one call pipeline.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({
          valid: true,
          data: input as never,
          errorMessage: undefined,
        }),
      },
    },
  )
  if (capabilities.elicitation)
    client.setRequestHandler(
      'elicitation/create',
      async ({ method, params }) => (await answer(method, params as JsonObject)) as never,
    )
  if (capabilities.sampling)
    client.setRequestHandler(
      'sampling/createMessage',
      async ({ method, params }) => (await answer(method, params as JsonObject)) as never,
    )
  if (capabilities.roots)
    client.setRequestHandler(
      'roots/list',
      async ({ method }) => (await answer(method, {})) as never,
    )
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) =>
    log(level, typeof data === 'string' ? data : JSON.stringify(data)),
  )
  for (const list of ['tools', 'resources', 'prompts'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => listChanged())
  return client
}

// Older servers tell of changes by themselves, and write logs when they are asked to.
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
  const limit = createTimeLimit(1000)
  if (terminateSession)
    await Promise.race([limit.passed, terminateSession.call(transport)]).catch(() => {})
  limit.clear()
  await client.close().catch(() => {})
  await transport.close().catch(() => {})
}

function createTimeLimit(milliseconds: number): { readonly passed: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout
  const passed = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`there was no answer within ${milliseconds / 1000} seconds`)),
      milliseconds,
    )
  })
  passed.catch(() => {})
  return { passed, clear: () => clearTimeout(timer) }
}

const RPC_CODES = {
  invalidParams: -32602,
  unknownMethod: -32601,
  notFound: -32002,
  missingCapability: -32021,
  urlRequired: -32042,
} as const
const MAX_MESSAGE_LENGTH = 2000
const CREDENTIALS_HINT = "Give it credentials: headers: { Authorization: 'Bearer ${TOKEN}' }"

/** What went wrong with a server, as an error that names it. `what` is what was wanted of it. */
export function toServerError(
  thrown: unknown,
  what: string,
  settings: McpSettings,
  session?: McpClientSession,
): ToolError {
  if (ToolError.is(thrown)) return thrown
  const named = `MCP server '${settings.name}'`
  const error = thrown as {
    readonly code?: unknown
    readonly data?: unknown
    readonly message?: string
    readonly cause?: unknown
  }
  const message = hideSecrets(
    shorten(String(error?.message ?? thrown), MAX_MESSAGE_LENGTH),
    settings,
  )
  if (ToolError.is(error?.cause))
    return new ToolError(error.cause.code, `${named}: ${error.cause.message}`, {
      ...error.cause.toObject(),
      cause: thrown,
    })
  if (session?.ended()) return toServerEndedError(what, settings, session, thrown)
  if (typeof error?.code === 'number')
    return toProtocolError(error.code, message, error.data, named, thrown)
  const status =
    isObject(error?.data) && typeof error.data['status'] === 'number'
      ? error.data['status']
      : undefined
  if (status !== undefined)
    return toHttpStatusError(status, message, named, settings, session !== undefined, thrown)
  if ((thrown as Error)?.name === 'UnauthorizedError')
    return new ToolError('PERMISSION', `${named} wants to know who calls: ${message}`, {
      suggestion: CREDENTIALS_HINT,
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
  const system = findDeepestCause(thrown)
  return new ToolError(
    'DEPENDENCY',
    `${named} did not answer ${what}: ${message}${system === undefined ? '' : ` (${system})`}`,
    { suggestion: suggestManualCheck(settings), cause: thrown },
  )
}

// A server that does not know the address of a session any more was started anew; the next call
// opens another one.
function toHttpStatusError(
  status: number,
  message: string,
  named: string,
  { location }: McpSettings,
  inSession: boolean,
  cause: unknown,
): ToolError {
  const isRefused = status === 401 || status === 403
  return new ToolError(
    status === 404 ? 'DEPENDENCY' : toErrorCode(status),
    `${named} answered with HTTP status ${status}: ${message}`,
    {
      ...compact({
        retryable:
          status >= 400 && status < 500 && status !== 429 ? status === 404 && inSession : undefined,
      }),
      suggestion: isRefused
        ? CREDENTIALS_HINT
        : status === 404 && inSession
          ? 'Call again: a new session is opened'
          : `Try it by hand: curl -i ${location}`,
      cause,
    },
  )
}

// What the system said stands below the words of two libraries.
function findDeepestCause(thrown: unknown): string | undefined {
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
export function toServerEndedError(
  what: string,
  settings: McpSettings,
  session: Pick<McpClientSession, 'describeEnd' | 'errorTail' | 'overflowed'>,
  cause?: unknown,
): ToolError {
  const tail = hideSecrets(session.errorTail(), settings)
  const message = `MCP server '${settings.name}' ended during ${what}: ${hideSecrets(session.describeEnd() ?? 'the connection was closed', settings)}`
  const details = compact({ stderr: tail !== '' ? tail : undefined })
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
export function hideSecrets(text: string, { secrets }: Pick<McpSettings, 'secrets'>): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
}

/** What to try by hand. */
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
  const details = { rpc: compact({ code, data }) }
  const said = `${named}: ${message}`
  if (
    code === RPC_CODES.notFound ||
    (code === RPC_CODES.invalidParams && isObject(data) && typeof data['uri'] === 'string')
  )
    return new ToolError('NOT_FOUND', said, { details, cause })
  if (code === RPC_CODES.invalidParams)
    return new ToolError('INVALID_INPUT', said, { details, cause })
  if (code === RPC_CODES.missingCapability)
    return new ToolError('ANSWER_REQUIRED', said, {
      details,
      suggestion: 'Give the registry somebody who answers: the options answer and sample',
      cause,
    })
  if (code === RPC_CODES.urlRequired)
    return new ToolError('PRECONDITION', said, {
      details,
      suggestion: 'Open the address in the details, finish there, then call again',
      cause,
    })
  if (code === RPC_CODES.unknownMethod)
    return new ToolError('DEPENDENCY', said, { retryable: false, details, cause })
  return new ToolError('INTERNAL', said, { details, cause })
}
