import { isObject } from '../../contract/json.ts'
import type { Cancellation } from '../../call/cancellation.ts'
import type { Id, Params } from './wire/messages.ts'
import { RPC, RpcError } from './wire/messages.ts'
import { META, MODERN_VERSION, SUPPORTED_VERSIONS, TASKS_EXTENSION } from './wire/versions.ts'
import { isLogLevel } from './wire/log-levels.ts'
import type { WireLogLevel } from './wire/log-levels.ts'

/** What a client says it can do. */
export type ClientCapabilities = { readonly [name: string]: unknown }

/** Who asks, as the request itself (modern) or the handshake (legacy) says. */
export type Caller = {
  readonly era: 'modern' | 'legacy'
  readonly version: string
  readonly capabilities: ClientCapabilities
  readonly name: string | undefined
  /** The least important log line that is wanted; undefined for none. */
  readonly logLevel: WireLogLevel | undefined
}

/** One request while it is answered. */
export type Exchange = {
  readonly id: Id
  readonly caller: Caller
  /** Cancelled when the client cancels or goes away. */
  readonly cancellation: Cancellation
  /** Sends a notification that belongs to this request. */
  notify(method: string, params: Params): void
  /** Asks the client something in the middle of its request; only older clients expect that. */
  request?(method: string, params: Params, signal: AbortSignal | Cancellation): Promise<unknown>
}

/** True for notifications that a client which does not keep up can do without. */
export function mayBeLost(method: string): boolean {
  return method === 'notifications/progress' || method === 'notifications/message'
}

/** True when the request carries its own metadata. */
export function isModern(params: Params): boolean {
  const meta = params['_meta']
  return isObject(meta) && META.version in meta
}

/** Reads the metadata of a modern request; throws the error that the specification wants for each fault. */
export function readCaller(params: Params): Caller {
  const meta = params['_meta']
  if (!isObject(meta))
    throw new RpcError(
      RPC.invalidParams,
      `the request needs _meta with ${META.version} and ${META.capabilities}`,
    )
  const version = meta[META.version]
  if (typeof version !== 'string')
    throw new RpcError(RPC.invalidParams, `_meta needs ${META.version}`)
  if (version !== MODERN_VERSION) throw unsupportedVersion(version)
  const capabilities = meta[META.capabilities]
  if (!isObject(capabilities))
    throw new RpcError(RPC.invalidParams, `_meta needs ${META.capabilities}`)
  const client = meta[META.client]
  const level = meta[META.logLevel]
  if (level !== undefined && !isLogLevel(level))
    throw new RpcError(RPC.invalidParams, `${META.logLevel} is not a log level`)
  return {
    era: 'modern',
    version,
    capabilities,
    name: isObject(client) && typeof client['name'] === 'string' ? client['name'] : undefined,
    logLevel: level,
  }
}

/** The error for a version that is not served. */
export function unsupportedVersion(requested: string): RpcError {
  return new RpcError(
    RPC.unsupportedVersion,
    `protocol version '${requested.slice(0, 40)}' is not supported`,
    { supported: SUPPORTED_VERSIONS, requested: requested.slice(0, 40) },
  )
}

/** True when the client declared the capability, as far as it is used here. */
export function can({ capabilities }: Caller, name: 'elicitation' | 'sampling' | 'roots'): boolean {
  const declared = capabilities[name]
  // Who elicits by addresses only cannot show a form; who says nothing shows forms.
  return (
    isObject(declared) && (name !== 'elicitation' || 'form' in declared || !('url' in declared))
  )
}

/** True when the client understands tasks. */
export function canUseTasks({ era, capabilities }: Caller): boolean {
  const extensions = capabilities['extensions']
  return era === 'modern' && isObject(extensions) && isObject(extensions[TASKS_EXTENSION])
}

/** The error for a request that needs something its client did not declare. */
export function missingCapability(required: ClientCapabilities): RpcError {
  return new RpcError(
    RPC.missingCapability,
    `this request needs a client with ${describe(required)}`,
    { requiredCapabilities: required },
  )
}

function describe(required: ClientCapabilities): string {
  return Object.entries(required)
    .map(([name, value]) =>
      name === 'extensions' && isObject(value)
        ? `the extension ${Object.keys(value).join(', ')}`
        : name,
    )
    .join(' and ')
}
