import type { Cancellation } from '../../call/cancellation.ts'
import { isObject } from '../../contract/json.ts'
import { onAbort } from '../../call/on-abort.ts'
import type { Caller } from './exchange.ts'
import { capabilities, instructions } from './methods/discover.ts'
import { textParam } from './methods/method.ts'
import type { McpServer, ServerChange } from './server-type.ts'
import { isLogLevel } from './wire/log-levels.ts'
import { notificationMessage, requestMessage, RPC, RpcError } from './wire/messages.ts'
import type { Id, Message, Params } from './wire/messages.ts'
import { LEGACY_VERSIONS } from './wire/versions.ts'

type SessionMethod = (session: Session, params: Params) => object

const METHODS: { readonly [method: string]: SessionMethod } = {
  initialize: (session, params) => session.initialize(params),
  'logging/setLevel'(session, { level }) {
    if (!isLogLevel(level)) throw new RpcError(RPC.invalidParams, 'params.level is not a log level')
    session.caller = { ...session.caller, logLevel: level }
    return {}
  },
  'resources/subscribe'(session, params) {
    session.subscriptions.add(textParam(params, 'uri'))
    return {}
  },
  'resources/unsubscribe'(session, params) {
    session.subscriptions.delete(textParam(params, 'uri'))
    return {}
  },
}

/** What an older client said once and means for all its requests: its handshake, log level and subscriptions, and the questions it was asked. */
export class Session {
  caller: Caller = {
    era: 'legacy',
    version: '2025-03-26',
    capabilities: {},
    name: undefined,
    logLevel: 'info',
  }
  initialized = false
  readonly subscriptions = new Set<string>()
  readonly #asked = new Map<Id, (message: Message & { readonly kind: 'response' }) => void>()
  #lastId = 0

  constructor(readonly server: McpServer) {}

  /** The method that belongs to the session itself; undefined for all others. */
  find(method: string): ((params: Params) => object) | undefined {
    const own = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined
    return own && ((params) => own(this, params))
  }

  initialize({ protocolVersion, capabilities: declared, clientInfo }: Params): object {
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
      capabilities: capabilities('legacy'),
      serverInfo: { name: source.name, version: source.version },
      ...instructions(this.server),
    }
  }

  /** Asks the client and waits; `send` carries the question. Rejects with RpcError when the client answers with an error. */
  ask(
    method: string,
    params: Params,
    signal: AbortSignal | Cancellation,
    send: (text: string) => void,
  ): Promise<unknown> {
    const id = `ask-${++this.#lastId}`
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    return new Promise((resolve, reject) => {
      const stopListening = onAbort(signal, () => {
        if (!this.#asked.delete(id)) return
        send(notificationMessage('notifications/cancelled', { requestId: id }))
        reject(signal.reason as Error)
      })
      this.#asked.set(id, ({ result, error }) => {
        this.#asked.delete(id)
        stopListening()
        if (error) reject(new RpcError(error.code, error.message, error.data))
        else resolve(result)
      })
      send(requestMessage(id, method, params))
    })
  }

  /** Takes the client's answer to one of our questions; others are ignored. */
  take(message: Message & { readonly kind: 'response' }): void {
    this.#asked.get(message.id)?.(message)
  }

  /** The notification by which the client hears of a change, if it wants to. */
  notificationOf(change: ServerChange): string | undefined {
    if (!this.initialized || change.kind === 'task') return undefined
    if (change.kind === 'resource')
      return this.subscriptions.has(change.uri)
        ? notificationMessage('notifications/resources/updated', { uri: change.uri })
        : undefined
    return notificationMessage(`notifications/${change.kind}/list_changed`, {})
  }
}
