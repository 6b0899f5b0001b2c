/**
 * A client behind stdin and stdout, and the session of clients that begin with `initialize`.
 */

import { isUtf8 } from 'node:buffer'
import { ConditionWaiter, createLineWriter, forEachStdinLine } from '../cli/server.ts'
import type { LineWriter } from '../cli/server.ts'
import { Cancellation } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import { requireTextParam } from './method.ts'
import {
  duplicateIdError,
  formatError,
  formatNotification,
  formatRequest,
  formatResult,
  hasModernMetadata,
  isDroppable,
  isMcpLogLevel,
  LEGACY_VERSIONS,
  parseClient,
  parseMessage,
  RPC_CODES,
  RpcError,
  toErrorResponse,
} from './protocol.ts'
import type {
  McpClient,
  McpExchange,
  RpcId,
  RpcMessage,
  RpcParams,
  RpcResponse,
} from './protocol.ts'
import type { McpServer, ServerChange } from './server-types.ts'
import { getInstructions, getServerCapabilities } from './server.ts'

const DRAIN_TIMEOUT_MS = 5000
const FINAL_ANSWER_TIMEOUT_MS = 1000

/**
 * Serves one client over stdin and stdout until it closes stdin or the signal aborts; calls that
 * still run may end.
 */
export async function serveStdio(server: McpServer, io: Io, signal: AbortSignal): Promise<void> {
  io.stdout.unblock?.()
  const writer = createLineWriter(io.stdout, () => connection.running <= 1)
  const connection = new StdioConnection(server, writer)
  const stopListening = server.onChange((change) => connection.tell(change))
  try {
    await forEachStdinLine(io, signal, writer, (line) => {
      if (line === 'too long')
        writer.write(
          formatError(undefined, { code: RPC_CODES.parse, message: 'the line is too long' }),
        )
      else connection.handleLine(line)
    })
    // Who closes stdin may still be reading: what was asked is answered, if it does not take too
    // long.
    if (!signal.aborted) await connection.waitUntilIdle(DRAIN_TIMEOUT_MS, signal)
  } finally {
    stopListening()
    server.close()
    await connection.waitUntilClosed(FINAL_ANSWER_TIMEOUT_MS)
    await writer.drained()
  }
}

type StdioRequest = RpcMessage & { readonly kind: 'request' }

/**
 * A client behind one pair of streams. Each request is taken by what it says itself, so that both
 * generations may be mixed.
 */
class StdioConnection {
  readonly #session: McpSession
  readonly #requests = new Map<RpcId, StdioExchange>()
  /** Requests that are being answered; open subscriptions do not count. */
  running = 0
  readonly #until = new ConditionWaiter()

  constructor(
    readonly server: McpServer,
    readonly writer: Pick<LineWriter, 'write' | 'offer'>,
  ) {
    this.#session = new McpSession(server)
  }

  /** Takes one line. */
  handleLine(line: Buffer): void {
    const message = this.#read(line)
    if (!message) return
    if (message.kind === 'request') void this.#answer(message)
    else if (message.kind === 'response') this.#session.take(message)
    else if (message.kind === 'invalid')
      this.writer.write(
        formatError(message.id, { code: RPC_CODES.invalidRequest, message: message.problem }),
      )
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params)
  }

  /** Tells an older client of a change; modern ones subscribe. */
  tell(change: ServerChange): void {
    const text = this.#session.notificationOf(change)
    if (text !== undefined) this.writer.write(text)
  }

  /** Resolves when no call is being answered any more, or after a time. */
  waitUntilIdle(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#until.wait(() => this.running === 0, milliseconds, signal)
  }

  /** Resolves when everything is answered, subscriptions too, or after a time. */
  waitUntilClosed(milliseconds: number): Promise<void> {
    return this.#until.wait(() => this.#requests.size === 0, milliseconds)
  }

  #read(line: Buffer): RpcMessage | undefined {
    try {
      if (!isUtf8(line)) throw new SyntaxError('it is not valid UTF-8')
      return parseMessage(JSON.parse(line.toString('utf8')))
    } catch (error) {
      this.writer.write(
        formatError(undefined, {
          code: RPC_CODES.parse,
          message: `the line is not JSON: ${(error as Error).message}`,
        }),
      )
      return undefined
    }
  }

  async #answer({ id, method, params }: StdioRequest): Promise<void> {
    if (this.#requests.has(id))
      return this.writer.write(formatError(id, duplicateIdError().toObject()))
    const exchange = new StdioExchange(id, this.#session, this.writer)
    const counts = method === 'subscriptions/listen' ? 0 : 1
    this.#requests.set(id, exchange)
    this.running += counts
    const answered = await this.#dispatch(method, params, exchange)
    this.#requests.delete(id)
    if (!exchange.cancellation.aborted) this.writer.write(answered.text)
    this.running -= counts
    this.#until.notify()
  }

  async #dispatch(
    method: string,
    params: RpcParams,
    exchange: StdioExchange,
  ): Promise<RpcResponse> {
    try {
      // Only modern clients know server/discover: without its metadata it is a modern request with
      // a fault.
      if (hasModernMetadata(params) || method === 'server/discover')
        exchange.caller = parseClient(params)
      else {
        const own = this.#session.find(method)
        if (own) return { text: formatResult(exchange.id, own(params)) }
      }
    } catch (error) {
      if (error instanceof RpcError) return toErrorResponse(exchange.id, error.toObject())
      throw error
    }
    return this.server.answer(method, params, exchange)
  }

  #cancel({ requestId }: RpcParams): void {
    this.#requests.get(requestId as RpcId)?.cancel()
  }
}

class StdioExchange implements McpExchange {
  caller: McpClient
  readonly cancellation = new Cancellation()

  constructor(
    readonly id: RpcId,
    readonly session: McpSession,
    readonly writer: StdioConnection['writer'],
  ) {
    this.caller = session.caller
  }

  cancel(): void {
    this.cancellation.cancel(new ToolError('CANCELLED', 'the client cancelled the request'))
  }

  notify(method: string, params: RpcParams): void {
    if (this.cancellation.aborted) return
    const text = formatNotification(method, params)
    if (isDroppable(method)) this.writer.offer(text)
    else this.writer.write(text)
  }

  request(method: string, params: RpcParams, signal: AbortSignal | Cancellation): Promise<unknown> {
    return this.session.ask(method, params, signal, (text) => this.writer.write(text))
  }
}

type SessionMethod = (session: McpSession, params: RpcParams) => object

const SESSION_METHODS: { readonly [method: string]: SessionMethod } = {
  initialize: (session, params) => session.initialize(params),
  'logging/setLevel'(session, { level }) {
    if (!isMcpLogLevel(level))
      throw new RpcError(RPC_CODES.invalidParams, 'params.level is not a log level')
    session.caller = { ...session.caller, logLevel: level }
    return {}
  },
  'resources/subscribe'(session, params) {
    session.subscriptions.add(requireTextParam(params, 'uri'))
    return {}
  },
  'resources/unsubscribe'(session, params) {
    session.subscriptions.delete(requireTextParam(params, 'uri'))
    return {}
  },
}

/**
 * What an older client said once and means for all its requests: its handshake, log level and
 * subscriptions, and the questions it was asked.
 */
export class McpSession {
  caller: McpClient = {
    era: 'legacy',
    version: '2025-03-26',
    capabilities: {},
    name: undefined,
    logLevel: 'info',
  }
  initialized = false
  readonly subscriptions = new Set<string>()
  readonly #asked = new Map<RpcId, (message: RpcMessage & { readonly kind: 'response' }) => void>()
  #lastId = 0

  constructor(readonly server: McpServer) {}

  /** The method that belongs to the session itself; undefined for all others. */
  find(method: string): ((params: RpcParams) => object) | undefined {
    const own = Object.hasOwn(SESSION_METHODS, method) ? SESSION_METHODS[method] : undefined
    return own && ((params) => own(this, params))
  }

  initialize({ protocolVersion, capabilities: declared, clientInfo }: RpcParams): object {
    const version =
      typeof protocolVersion === 'string' && LEGACY_VERSIONS.includes(protocolVersion)
        ? protocolVersion
        : LEGACY_VERSIONS[0]!
    this.caller = {
      ...this.caller,
      version,
      capabilities: isObject(declared) ? declared : {},
      name:
        isObject(clientInfo) && typeof clientInfo['name'] === 'string'
          ? clientInfo['name']
          : undefined,
    }
    this.initialized = true
    const { source } = this.server
    return {
      protocolVersion: version,
      capabilities: getServerCapabilities('legacy'),
      serverInfo: { name: source.name, version: source.version },
      ...getInstructions(this.server),
    }
  }

  /**
   * Asks the client and waits; `send` carries the question. Rejects with RpcError when the client
   * answers with an error.
   */
  ask(
    method: string,
    params: RpcParams,
    signal: AbortSignal | Cancellation,
    send: (text: string) => void,
  ): Promise<unknown> {
    const id = `ask-${++this.#lastId}`
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        if (!this.#asked.delete(id)) return
        send(formatNotification('notifications/cancelled', { requestId: id }))
        reject(signal.reason as Error)
      })
      this.#asked.set(id, ({ result, error }) => {
        this.#asked.delete(id)
        stopListening()
        if (error) reject(new RpcError(error.code, error.message, error.data))
        else resolve(result)
      })
      send(formatRequest(id, method, params))
    })
  }

  /** Takes the client's answer to one of our questions; others are ignored. */
  take(message: RpcMessage & { readonly kind: 'response' }): void {
    this.#asked.get(message.id)?.(message)
  }

  /** The notification by which the client hears of a change, if it wants to. */
  notificationOf(change: ServerChange): string | undefined {
    if (!this.initialized || change.kind === 'task') return undefined
    if (change.kind === 'resource')
      return this.subscriptions.has(change.uri)
        ? formatNotification('notifications/resources/updated', { uri: change.uri })
        : undefined
    return formatNotification(`notifications/${change.kind}/list_changed`, {})
  }
}
