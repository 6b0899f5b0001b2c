import { isObject } from '../../../contract/json.ts'

/** The id of a JSON-RPC request. */
export type Id = string | number

export type Params = { readonly [key: string]: unknown }

export type RpcErrorObject = {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** One JSON-RPC message, told apart. */
export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | {
      readonly kind: 'response'
      readonly id: Id
      readonly result?: unknown
      readonly error?: RpcErrorObject
    }
  | { readonly kind: 'invalid'; readonly id: Id | undefined; readonly problem: string }

/** Codes of JSON-RPC and of the specification. */
export const RPC = {
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
    return {
      code: this.code,
      message: this.message,
      ...(this.data !== undefined && { data: this.data }),
    }
  }
}

/** The error for a request whose id is that of another one. */
export function idInUse(): RpcError {
  return new RpcError(RPC.invalidRequest, 'this id is in use by a request that is not answered yet')
}

const NO_PARAMS: Params = Object.freeze({})

/** Tells what a parsed JSON value is. */
export function readMessage(value: unknown): Message {
  if (!isObject(value))
    return {
      kind: 'invalid',
      id: undefined,
      problem: Array.isArray(value)
        ? 'batches are not supported: send one message at a time'
        : 'a message is a JSON object',
    }
  const { id, method, params } = value
  const known = isId(id) ? id : undefined
  const invalid = (problem: string): Message => ({ kind: 'invalid', id: known, problem })
  if (value['jsonrpc'] !== '2.0') return invalid('a message needs "jsonrpc": "2.0"')
  if (method === undefined) {
    if (known === undefined || !('result' in value || 'error' in value))
      return invalid('a message needs a method, or an id with a result or an error')
    return 'error' in value
      ? { kind: 'response', id: known, error: readError(value['error']) }
      : { kind: 'response', id: known, result: value['result'] }
  }
  if (typeof method !== 'string') return invalid('the method is a text')
  if (params !== undefined && !isObject(params)) return invalid('params is an object')
  const given = params ?? NO_PARAMS
  if (!('id' in value)) return { kind: 'notification', method, params: given }
  return known === undefined
    ? invalid('the id is a text or a number')
    : { kind: 'request', id: known, method, params: given }
}

/** The answer to a request. */
export function resultMessage(id: Id, result: object): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result)}}`
}

/** The refusal of a request; without an id when it could not be read. */
export function errorMessage(id: Id | undefined, error: RpcErrorObject): string {
  return JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), error })
}

export function notificationMessage(method: string, params: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params })
}

export function requestMessage(id: Id, method: string, params: Params): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))
}

function readError(error: unknown): RpcErrorObject {
  if (isObject(error) && typeof error['code'] === 'number')
    return {
      code: error['code'],
      message: String(error['message'] ?? ''),
      ...('data' in error && { data: error['data'] }),
    }
  return { code: RPC.internal, message: 'the error could not be read' }
}
