/**
 * A client behind stdin and stdout, and the session of clients that begin with `initialize`.
 */

import { isUtf8 } from 'node:buffer'
import type { LineWriter } from '../cli/server.ts'
import { ConditionWaiter, createLineWriter, forEachStdinLine } from '../cli/server.ts'
import { Cancellation } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { Io, TextSink } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { requireTextParam } from './method.ts'
import type {
  McpClient,
  McpExchange,
  RpcAnswer,
  RpcId,
  RpcMessage,
  RpcParams,
  RpcRequest,
  RpcResponse,
} from './protocol.ts'
import {
  duplicateIdError,
  formatError,
  formatNotification,
  formatRequest,
  isDroppable,
  isMcpLogLevel,
  isModernMeta,
  LEGACY_VERSIONS,
  parseClient,
  parseMessage,
  readClientName,
  readSupport,
  respondWith,
  RPC_CODES,
  RpcError,
  toErrorResponse,
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
  const connection = new StdioConnection(server, io.stdout)
  const { writer } = connection
  const stopListening = server.onChange((change) => connection.announce(change))
  try {
    await forEachStdinLine(io, signal, writer, (line) => connection.handleLine(line))
    // A client that closes stdin may still be reading, so its requests are answered.
    if (!signal.aborted) await connection.waitUntilIdle(DRAIN_TIMEOUT_MS, signal)
  } finally {
    stopListening()
    server.close()
    await connection.waitUntilClosed(FINAL_ANSWER_TIMEOUT_MS)
    await writer.drained()
  }
}

/** A client behind one pair of streams. Each request names its generation, so both may be mixed. */
class StdioConnection {
  readonly writer: LineWriter
  readonly #session: McpSession
  readonly #requests = new Map<RpcId, StdioExchange>()
  /** Requests that are being answered; open subscriptions do not count. */
  running = 0
  readonly #until = new ConditionWaiter()

  constructor(
    readonly server: McpServer,
    sink: TextSink,
  ) {
    this.#session = new McpSession(server)
    this.writer = createLineWriter(sink, this)
  }

  /** Takes one line. */
  handleLine(line: Buffer | 'too long'): void {
    const message = this.#read(line)
    if (message?.kind === 'request') void this.#answer(message)
    else if (message?.kind === 'response') this.#session.acceptAnswer(message)
    else if (message?.kind === 'invalid')
      this.#refuse(RPC_CODES.invalidRequest, message.problem, message.id)
    else if (message?.method === 'notifications/cancelled')
      this.#requests.get(message.params['requestId'] as RpcId)?.cancel()
  }

  /** Notifies an older client of a change; modern ones subscribe. */
  announce(change: ServerChange): void {
    const text = this.#session.formatChange(change)
    if (text !== undefined) this.writer.write(text)
  }

  /** Resolves when no call is being answered any more, or after a time. */
  async waitUntilIdle(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (this.running > 0) await this.#until.wait(() => this.running === 0, milliseconds, signal)
  }

  /** Resolves when everything is answered, subscriptions too, or after a time. */
  async waitUntilClosed(milliseconds: number): Promise<void> {
    const requests = this.#requests
    if (requests.size > 0) await this.#until.wait(() => requests.size === 0, milliseconds)
  }

  #read(line: Buffer | 'too long'): RpcMessage | undefined {
    if (line === 'too long') return this.#refuse(RPC_CODES.parse, 'the line is too long')
    try {
      if (!isUtf8(line)) throw new SyntaxError('it is not valid UTF-8')
      return parseMessage(JSON.parse(line.toString('utf8')))
    } catch (error) {
      return this.#refuse(RPC_CODES.parse, `the line is not JSON: ${(error as Error).message}`)
    }
  }

  #refuse(code: number, message: string, id?: RpcId): undefined {
    this.writer.write(formatError(id, { code, message }))
  }

  async #answer(request: RpcRequest): Promise<void> {
    const { id, method } = request
    if (this.#requests.has(id))
      return this.writer.write(toErrorResponse(id, duplicateIdError()).text)
    const exchange = new StdioExchange(request, this.#session, this.writer)
    const counts = method === 'subscriptions/listen' ? 0 : 1
    this.#requests.set(id, exchange)
    this.running += counts
    const { text } = await this.#dispatch(request, exchange)
    this.#requests.delete(id)
    if (!exchange.cancellation.reason) this.writer.write(text)
    this.running -= counts
    this.#until.notify()
  }

  async #dispatch(
    { id, method, params, meta }: RpcRequest,
    exchange: StdioExchange,
  ): Promise<RpcResponse> {
    // Only modern clients know server/discover: without metadata it is a faulty modern request.
    if (isModernMeta(meta) || method === 'server/discover') {
      try {
        exchange.client = parseClient(meta)
      } catch (error) {
        return toErrorResponse(id, error)
      }
    } else {
      const own = this.#session.find(method)
      if (own) return respondWith(id, () => own(params))
    }
    return this.server.answer(method, params, exchange)
  }
}

class StdioExchange implements McpExchange {
  readonly id: RpcId
  readonly meta: RpcParams | undefined
  client: McpClient
  readonly cancellation = new Cancellation()

  constructor(
    { id, meta }: RpcRequest,
    readonly session: McpSession,
    readonly writer: LineWriter,
  ) {
    this.id = id
    this.meta = meta
    this.client = session.client
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
    session.client = { ...session.client, logLevel: level }
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
 * What holds for all requests of an older client: its handshake, log level and subscriptions, and
 * the questions it was asked.
 */
export class McpSession {
  client: McpClient = {
    era: 'legacy',
    version: '2025-03-26',
    supports: readSupport(undefined, 'legacy'),
    name: undefined,
    logLevel: 'info',
  }
  #isInitialized = false
  readonly subscriptions = new Set<string>()
  readonly #asked = new Map<RpcId, (answer: RpcAnswer) => void>()
  #lastId = 0

  constructor(readonly server: McpServer) {}

  /** The method that belongs to the session itself; undefined for all others. */
  find(method: string): ((params: RpcParams) => object) | undefined {
    const own = Object.hasOwn(SESSION_METHODS, method) ? SESSION_METHODS[method] : undefined
    return own && ((params) => own(this, params))
  }

  initialize({ protocolVersion, capabilities, clientInfo }: RpcParams): object {
    const version =
      LEGACY_VERSIONS.find((known) => known === protocolVersion) ?? LEGACY_VERSIONS[0]!
    this.client = {
      ...this.client,
      version,
      supports: readSupport(capabilities, 'legacy'),
      name: readClientName(clientInfo),
    }
    this.#isInitialized = true
    const { name, version: serverVersion } = this.server.source.set
    return {
      protocolVersion: version,
      capabilities: getServerCapabilities('legacy'),
      serverInfo: { name, version: serverVersion },
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
  acceptAnswer(answer: RpcAnswer): void {
    this.#asked.get(answer.id)?.(answer)
  }

  /** The notification of a change; undefined where the client does not want it. */
  formatChange(change: ServerChange): string | undefined {
    if (!this.#isInitialized || change.kind === 'task') return undefined
    if (change.kind !== 'resource')
      return formatNotification(`notifications/${change.kind}/list_changed`, {})
    return this.subscriptions.has(change.uri)
      ? formatNotification('notifications/resources/updated', { uri: change.uri })
      : undefined
  }
}
