/**
 * JSON-RPC messages and the vocabulary of the protocol: versions, metadata keys, log levels,
 * capabilities, and one request while it is answered.
 */

import type { Cancellation } from '../core/call.ts'
import type { LogLevel } from '../protocol/events.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'

/** The id of a JSON-RPC request. */
export type RpcId = string | number

export type RpcParams = { readonly [key: string]: unknown }

export type RpcErrorObject = {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

type RpcCall = {
  readonly method: string
  readonly params: RpcParams
  /** `_meta` of the params, where it is an object. */
  readonly meta: RpcParams | undefined
}
export type RpcRequest = RpcCall & { readonly kind: 'request'; readonly id: RpcId }
export type RpcNotification = RpcCall & { readonly kind: 'notification' }
/** The client's answer to a question of ours. */
export type RpcAnswer = {
  readonly kind: 'response'
  readonly id: RpcId
  readonly result?: unknown
  readonly error?: RpcErrorObject
}

/** One JSON-RPC message by its kind. */
export type RpcMessage =
  | RpcRequest
  | RpcNotification
  | RpcAnswer
  | { readonly kind: 'invalid'; readonly id: RpcId | undefined; readonly problem: string }

/** Codes of JSON-RPC and of the specification. */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Clients before 2026 only. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** A fault of the protocol, as opposed to a tool that failed. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message)
  }

  toObject(): RpcErrorObject {
    return compact({ code: this.code, message: this.message, data: this.data })
  }
}

/** The error for a request whose id is that of another one. */
export function duplicateIdError(): RpcError {
  return new RpcError(
    RPC_CODES.invalidRequest,
    'this id is in use by a request that is not answered yet',
  )
}

const NO_PARAMS: RpcParams = Object.freeze({})

/** Classifies a parsed JSON value. */
export function parseMessage(value: unknown): RpcMessage {
  if (!isObject(value)) {
    const problem = Array.isArray(value)
      ? 'batches are not supported: send one message at a time'
      : 'a message is a JSON object'
    return { kind: 'invalid', id: undefined, problem }
  }
  const { method, params = NO_PARAMS } = value
  const hasParams = isObject(params)
  const meta = hasParams && isObject(params['_meta']) ? params['_meta'] : undefined
  const id = isRpcId(value['id']) ? value['id'] : undefined
  const invalid = (problem: string): RpcMessage => ({ kind: 'invalid', id, problem })
  if (value['jsonrpc'] !== '2.0') return invalid('a message needs "jsonrpc": "2.0"')
  if (method === undefined) {
    if (id !== undefined && 'error' in value)
      return { kind: 'response', id, error: parseRpcError(value['error']) }
    if (id !== undefined && 'result' in value)
      return { kind: 'response', id, result: value['result'] }
    return invalid('a message needs a method, or an id with a result or an error')
  }
  if (typeof method !== 'string') return invalid('the method is a text')
  if (!hasParams) return invalid('params is an object')
  if (!('id' in value)) return { kind: 'notification', method, params, meta }
  if (id === undefined) return invalid('the id is a text or a number')
  return { kind: 'request', id, method, params, meta }
}

/** The answer to a request. */
export function formatResult(id: RpcId, result: object): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result)}}`
}

/** The refusal of a request; without an id when it could not be read. */
export function formatError(id: RpcId | undefined, error: RpcErrorObject): string {
  return JSON.stringify(compact({ jsonrpc: '2.0', id, error }))
}

export function formatNotification(method: string, params: RpcParams): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

export function formatRequest(id: RpcId, method: string, params: RpcParams): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

function isRpcId(value: unknown): value is RpcId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))
}

function parseRpcError(error: unknown): RpcErrorObject {
  if (isObject(error) && typeof error['code'] === 'number')
    return compact({
      code: error['code'],
      message: String(error['message'] ?? ''),
      data: 'data' in error ? error['data'] : undefined,
    })
  return { code: RPC_CODES.internal, message: 'the error could not be read' }
}

/** A response as text; the code of its error decides the status of HTTP. */
export type RpcResponse = { readonly text: string; readonly error?: number }

/** The response to a request that fails with what was thrown. */
export function toErrorResponse(id: RpcId, thrown: unknown): RpcResponse {
  const error = toRpcError(thrown)
  return { text: formatError(id, error), error: error.code }
}

/** The response to a request that `work` answers. */
export function respondWith(id: RpcId, work: () => object): RpcResponse {
  try {
    return { text: formatResult(id, work()) }
  } catch (error) {
    return toErrorResponse(id, error)
  }
}

/** What was thrown, as the error of a response. */
export function toRpcError(thrown: unknown): RpcErrorObject {
  if (thrown instanceof RpcError) return thrown.toObject()
  if (ToolError.is(thrown))
    return { code: RPC_CODES.internal, message: thrown.message, data: thrown.toObject() }
  return {
    code: RPC_CODES.internal,
    message: `the server failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
  }
}

/** The revision in which each request carries its own metadata. */
const MODERN_VERSION = '2026-07-28'

/** Revisions that begin with `initialize`, newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
]

/** Every revision that is served. */
export const SUPPORTED_VERSIONS: readonly string[] = [MODERN_VERSION, ...LEGACY_VERSIONS]

/** Keys of `_meta` that the specification reserves. */
export const META_KEYS = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

/** Keys of `_meta` that are ours: the outcome without its result, and options of a call. */
export const TOOLABLE_META_KEYS = {
  outcome: 'dev.toolable/outcome',
  options: 'dev.toolable/options',
} as const

/** The id of the tasks extension. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

const MCP_LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const

/** Log levels as the protocol names them. */
type McpLogLevel = (typeof MCP_LOG_LEVELS)[number]

const MCP_LEVEL_BY_LEVEL: { readonly [Level in LogLevel]: McpLogLevel } = {
  debug: 'debug',
  info: 'info',
  warn: 'warning',
  error: 'error',
}

export function isMcpLogLevel(value: unknown): value is McpLogLevel {
  return MCP_LOG_LEVELS.includes(value as McpLogLevel)
}

/** The protocol's name of a level. */
export function toMcpLogLevel(level: LogLevel): McpLogLevel {
  return MCP_LEVEL_BY_LEVEL[level]
}

/** True when a line of `level` is wanted by a client that asked for `least`. */
export function isAtLeast(level: McpLogLevel, least: McpLogLevel | undefined): boolean {
  return least !== undefined && MCP_LOG_LEVELS.indexOf(level) >= MCP_LOG_LEVELS.indexOf(least)
}

/** Capabilities as the protocol carries them. */
export type ClientCapabilities = { readonly [name: string]: unknown }

/** A capability that questions to the client need. */
export type QuestionCapability = 'elicitation' | 'sampling' | 'roots'

/** What a client can do, as far as it is used here. */
export type ClientSupport = { readonly [Name in QuestionCapability | 'tasks']: boolean }

/** The client, as the request itself (modern) or the handshake (legacy) describes it. */
export type McpClient = {
  readonly era: 'modern' | 'legacy'
  readonly version: string
  readonly supports: ClientSupport
  readonly name: string | undefined
  /** The least important log line that is wanted; undefined for none. */
  readonly logLevel: McpLogLevel | undefined
}

/** One request while it is answered. */
export type McpExchange = {
  readonly id: RpcId
  readonly client: McpClient
  readonly meta: RpcParams | undefined
  /** Cancelled when the client cancels or goes away. */
  readonly cancellation: Cancellation
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: RpcParams): void
  /** Asks the client something in the middle of its request; only older clients expect that. */
  request?(method: string, params: RpcParams, signal: AbortSignal | Cancellation): Promise<unknown>
}

/** True for notifications that a client which does not keep up can do without. */
export function isDroppable(method: string): boolean {
  return method === 'notifications/progress' || method === 'notifications/message'
}

/** True when a request carries its own metadata. */
export function isModernMeta(meta: RpcParams | undefined): boolean {
  return meta !== undefined && META_KEYS.version in meta
}

/**
 * Reads the metadata of a modern request; throws the error that the specification wants for each
 * fault.
 */
export function parseClient(meta: RpcParams | undefined): McpClient {
  if (!meta)
    throw new RpcError(
      RPC_CODES.invalidParams,
      `the request needs _meta with ${META_KEYS.version} and ${META_KEYS.capabilities}`,
    )
  const version = meta[META_KEYS.version]
  if (typeof version !== 'string')
    throw new RpcError(RPC_CODES.invalidParams, `_meta needs ${META_KEYS.version}`)
  if (version !== MODERN_VERSION) throw unsupportedVersionError(version)
  const capabilities = meta[META_KEYS.capabilities]
  if (!isObject(capabilities))
    throw new RpcError(RPC_CODES.invalidParams, `_meta needs ${META_KEYS.capabilities}`)
  const level = meta[META_KEYS.logLevel]
  if (level !== undefined && !isMcpLogLevel(level))
    throw new RpcError(RPC_CODES.invalidParams, `${META_KEYS.logLevel} is not a log level`)
  return {
    era: 'modern',
    version,
    supports: readSupport(capabilities, 'modern'),
    name: readClientName(meta[META_KEYS.client]),
    logLevel: level,
  }
}

/** The name in the information that a client gives about itself. */
export function readClientName(info: unknown): string | undefined {
  return isObject(info) && typeof info['name'] === 'string' ? info['name'] : undefined
}

/** Reads the capabilities that a client declared. */
export function readSupport(declared: unknown, era: McpClient['era']): ClientSupport {
  const { elicitation, sampling, roots, extensions } = isObject(declared) ? declared : NO_PARAMS
  return {
    // A client that elicits by addresses only cannot show a form; one that does not say can.
    elicitation: isObject(elicitation) && ('form' in elicitation || !('url' in elicitation)),
    sampling: isObject(sampling),
    roots: isObject(roots),
    tasks: era === 'modern' && isObject(extensions) && isObject(extensions[TASKS_EXTENSION]),
  }
}

/** The error for a version that is not served. */
function unsupportedVersionError(requested: string): RpcError {
  return new RpcError(
    RPC_CODES.unsupportedVersion,
    `protocol version '${requested.slice(0, 40)}' is not supported`,
    { supported: SUPPORTED_VERSIONS, requested: requested.slice(0, 40) },
  )
}

/** The error for a request that needs something its client did not declare. */
export function missingCapabilityError(required: ClientCapabilities): RpcError {
  return new RpcError(
    RPC_CODES.missingCapability,
    `this request needs a client with ${describeCapabilities(required)}`,
    { requiredCapabilities: required },
  )
}

function describeCapabilities(required: ClientCapabilities): string {
  return Object.entries(required)
    .map(([name, value]) =>
      name === 'extensions' && isObject(value)
        ? `the extension ${Object.keys(value).join(', ')}`
        : name,
    )
    .join(' and ')
}
