/**
 * Configuration of an MCP server and the two ways to reach it: as a child over stdio, or over HTTP.
 */

import type { FetchLike, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ChildEnd } from '../../process/child.ts'
import { buildCallEnv } from '../../process/environment.ts'
import type { OpenChild } from '../../process/run.ts'
import type { Root } from '../../protocol/events.ts'
import type { Duration } from '../../protocol/limits.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import { KIBIBYTE, MEBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { asList, asObject, compact, isObject, tryParseJson } from '../../util/values.ts'
import { limitResponse, redactUrl, requireHttpUrl } from '../http.ts'
import type { LoadContext } from '../source.ts'
import { expandValues, expandVariables } from '../source.ts'

/**
 * A server in the standard `mcpServers` form: either `command` or `url`. `${NAME}` and
 * `${NAME:-default}` are replaced from the environment of the host.
 */
export type McpServerConfig = {
  readonly command?: string
  readonly args?: readonly string[]
  /** Variables for the server besides the base allow-list. */
  readonly env?: { readonly [name: string]: string }
  readonly cwd?: string
  readonly url?: string
  readonly headers?: { readonly [name: string]: string }
  readonly type?: string
  readonly disabled?: boolean
  readonly enabled?: boolean
  /** Longest time to connect; default 10 seconds. */
  readonly timeout?: Duration
  /**
   * Longest time of a call; default: as the caller says, and ten minutes without a sign of life.
   */
  readonly callTimeout?: Duration
  /**
   * The roots that the server gets: a list of folders, or true for those of the caller. Default:
   * none.
   */
  readonly roots?: boolean | readonly string[]
}

type StdioSettings = {
  readonly command: readonly [string, ...string[]]
  readonly env: { readonly [name: string]: string }
  readonly cwd: string
}
type HttpSettings = {
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  /** Absent: whichever the server speaks. */
  readonly type?: 'http' | 'sse'
}

/** A configuration with everything replaced and checked. */
export type McpSettings = {
  readonly name: string
  readonly place: { readonly stdio: StdioSettings } | { readonly http: HttpSettings }
  /** For people, without secrets. */
  readonly location: string
  /** Values that messages must not show. */
  readonly secrets: readonly string[]
  /** Milliseconds. */
  readonly startTimeout: number
  /** Seconds. */
  readonly callTimeout: number | undefined
  readonly roots: 'none' | 'caller' | readonly Root[]
  readonly cwd: string
}

const DEFAULT_START_TIMEOUT_SECONDS = 10
// Shorter values are ordinary words.
const MIN_HIDDEN_LENGTH = 8

/** True when the configuration disables the server. */
export function isServerDisabled(config: McpServerConfig): boolean {
  return isObject(config) && (config.disabled === true || config.enabled === false)
}

/** The location of a server, before its configuration is read. */
export function describeServerLocation(config: McpServerConfig): string {
  const { command, args, url } = asObject(config) ?? {}
  if (typeof command === 'string') return [command, ...asList(args)].join(' ')
  return typeof url === 'string' ? redactUrl(url) : 'nowhere'
}

/** Reads a configuration. Throws CONFIG with what to change. */
export function readMcpSettings(
  name: string,
  config: McpServerConfig,
  { env, cwd }: Pick<LoadContext, 'env' | 'cwd'>,
): McpSettings {
  const what = `MCP server '${name}'`
  if (!isObject(config))
    throw new ToolError('CONFIG', `${what} needs a configuration: { command, args } or { url }`)
  const expand = (text: string): string => expandVariables(text, env, what)
  const place = readServerPlace(what, config, env, cwd, expand)
  const { timeout = DEFAULT_START_TIMEOUT_SECONDS, callTimeout } = config
  return {
    name,
    place,
    location: describeServerLocation(config),
    secrets: ('stdio' in place
      ? Object.keys(config.env ?? {}).map((key) => place.stdio.env[key] ?? '')
      : Object.values(place.http.headers)
    ).filter((value) => value.length >= MIN_HIDDEN_LENGTH),
    startTimeout: readDuration(what, 'timeout', timeout),
    callTimeout:
      callTimeout === undefined ? undefined : readDuration(what, 'callTimeout', callTimeout) / 1000,
    roots: readRoots(what, config.roots, cwd, expand),
    cwd,
  }
}

function readServerPlace(
  what: string,
  config: JsonObject,
  hostEnv: LoadContext['env'],
  hostCwd: string,
  expand: (text: string) => string,
): McpSettings['place'] {
  const { command, args = [], env, cwd, url, headers, type } = config
  const expandRecord = (key: string, record: unknown = {}) => {
    if (!isObject(record))
      throw new ToolError('CONFIG', `'${key}' of ${what} must be an object of texts`)
    return expandValues(record as { readonly [name: string]: string }, hostEnv, what)
  }
  if (typeof command === 'string' && command !== '') {
    if (!Array.isArray(args) || args.some((arg) => typeof arg !== 'string'))
      throw new ToolError('CONFIG', `'args' of ${what} must be a list of texts`)
    const own = expandRecord('env', env)
    return {
      stdio: {
        command: [expand(command), ...args.map(expand)],
        env: { ...buildCallEnv(hostEnv), ...own },
        cwd: typeof cwd === 'string' ? resolve(hostCwd, expand(cwd)) : hostCwd,
      },
    }
  }
  if (typeof url !== 'string' || url === '')
    throw new ToolError('CONFIG', `${what} needs a 'command' to start or a 'url' to connect to`)
  return {
    http: compact({
      url: requireHttpUrl(expand(url), `url of ${what}`),
      headers: expandRecord('headers', headers),
      type: readTransportType(what, type),
    }),
  }
}

const TRANSPORT_TYPES: { readonly [type: string]: 'http' | 'sse' } = {
  sse: 'sse',
  http: 'http',
  'streamable-http': 'http',
  streamableHttp: 'http',
}

function readTransportType(what: string, given: unknown): 'http' | 'sse' | undefined {
  if (given === undefined) return undefined
  const type = Object.hasOwn(TRANSPORT_TYPES, String(given)) && TRANSPORT_TYPES[String(given)]
  if (type) return type
  throw new ToolError('CONFIG', `the type of ${what} must be 'http' or 'sse' where there is a url`)
}

function readDuration(what: string, key: string, duration: Duration): number {
  try {
    return toMilliseconds(duration)
  } catch (error) {
    throw new ToolError('CONFIG', `'${key}' of ${what} cannot be used: ${(error as Error).message}`)
  }
}

function readRoots(
  what: string,
  roots: unknown,
  cwd: string,
  expand: (text: string) => string,
): McpSettings['roots'] {
  if (roots === undefined || roots === false) return 'none'
  if (roots === true) return 'caller'
  if (!Array.isArray(roots) || roots.some((root) => typeof root !== 'string'))
    throw new ToolError('CONFIG', `'roots' of ${what} must be true or a list of folders`)
  return roots.map((root) => {
    const place = expand(root as string)
    return { uri: /^\w[\w+.-]+:\/\//.test(place) ? place : pathToFileURL(resolve(cwd, place)).href }
  })
}

const MAX_MESSAGE_BYTES = 16 * MEBIBYTE
const MAX_GARBAGE_BYTES = 256 * KIBIBYTE
const STDERR_TAIL_LINES = 10
const CLOSE_TIMEOUT_MS = 1000
const KILL_GRACE_MS = 500

/**
 * A server that is our child and speaks in lines. It leads its own process group, and nothing of
 * it is left after `close`.
 */
export class StdioTransport implements Transport {
  declare onclose?: () => void
  declare onerror?: (error: Error) => void
  declare onmessage?: Transport['onmessage'] & {}
  // The SDK recognises a transport over pipes by `stderr` and `pid`; there, silence means an older
  // server.
  readonly stderr = null
  readonly #settings: StdioSettings
  readonly #tail: string[] = []
  #child: OpenChild | undefined
  #end: ChildEnd | undefined
  #garbage = 0
  #firstGarbage: string | undefined

  constructor(settings: StdioSettings) {
    this.#settings = settings
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  async start(): Promise<void> {
    const { openChild } = await import('../../process/run.ts')
    const child = await openChild({
      ...this.#settings,
      grace: KILL_GRACE_MS,
      maxLine: MAX_MESSAGE_BYTES,
      maxStderr: 0,
      onLine: (line) => this.#read(line),
      onErrorLine: (line) => this.#remember(line),
    })
    this.#child = child
    if (child.pid === undefined)
      throw (this.#end = await child.end).problem ?? new Error('it could not be started')
    void child.end.then((end) => {
      this.#end = end
      this.onclose?.()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!(await this.#child?.write(JSON.stringify(message))))
      throw Object.assign(new Error('the server takes nothing any more'), { code: 'NOT_CONNECTED' })
  }

  /** Closes the server's stdin, and kills the server if it does not end by itself. */
  async close(): Promise<void> {
    const child = this.#child
    if (!child) return
    child.closeInput()
    const timer = setTimeout(() => child.kill(), CLOSE_TIMEOUT_MS)
    await child.end
    clearTimeout(timer)
  }

  /** Sets whether the server keeps our process alive. */
  keepAlive(alive: boolean): void {
    this.#child?.keepAlive(alive)
  }

  /** Why the server ended, or what it wrote instead of answering. */
  describeEnd(): string | undefined {
    const parts: string[] = []
    if (this.#end) parts.push(describeServerEnd(this.#end, this.#garbage > MAX_GARBAGE_BYTES))
    if (this.#firstGarbage !== undefined) {
      const line = JSON.stringify(shorten(this.#firstGarbage, 100))
      parts.push(`it writes text to stdout that is no message: ${line}`)
    }
    return parts.length === 0 ? undefined : parts.join('; ')
  }

  /** The last lines of the server's stderr. */
  errorTail(): string {
    return this.#tail.join('\n')
  }

  /** True when the server was killed because of what it wrote. */
  get overflowed(): boolean {
    return this.#end?.reason === 'line-limit' || this.#garbage > MAX_GARBAGE_BYTES
  }

  #read(line: string): void {
    if (line.trim() === '') return
    const messages = parseMessages(line)
    if (!messages) return this.#refuse(line)
    for (const message of messages) {
      try {
        this.onmessage?.(message as JSONRPCMessage)
      } catch (error) {
        this.onerror?.(error as Error)
      }
    }
  }

  #refuse(line: string): void {
    this.#firstGarbage ??= line
    this.#garbage += line.length + 1
    if (this.#garbage > MAX_GARBAGE_BYTES) this.#child?.kill()
    this.onerror?.(new Error(`a line of stdout is no message: ${shorten(line, 100)}`))
  }

  #remember(line: string): void {
    this.#tail.push(shorten(line, 500))
    if (this.#tail.length > STDERR_TAIL_LINES) this.#tail.shift()
  }
}

function parseMessages(line: string): readonly object[] | undefined {
  const value = tryParseJson(line)
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value]
  return messages.every(isObject) ? messages : undefined
}

function describeServerEnd({ reason, status, signal }: ChildEnd, flooded: boolean): string {
  if (reason === 'line-limit')
    return `it sent a message of more than ${MAX_MESSAGE_BYTES / MEBIBYTE} MiB and was ended`
  if (flooded) return 'it flooded stdout and was ended'
  if (reason === 'cancelled') return 'it was ended'
  return signal === null ? `it exited with status ${status}` : `it was killed by ${signal}`
}

const RECONNECTION_OPTIONS = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
}

/**
 * Opens the connection to a server at an address. Redirects are followed only within its origin,
 * and answers are bounded.
 */
export async function openHttpTransport(
  { url, headers }: HttpSettings,
  type: 'http' | 'sse',
): Promise<Transport> {
  const { StreamableHTTPClientTransport, SSEClientTransport } =
    await import('@modelcontextprotocol/client')
  const bounded: FetchLike = async (address, init) => limitResponse(await fetch(address, init))
  const options = { requestInit: { headers: { ...headers } }, fetch: bounded }
  return type === 'sse'
    ? new SSEClientTransport(url, options)
    : new StreamableHTTPClientTransport(url, {
        ...options,
        reconnectionOptions: RECONNECTION_OPTIONS,
      })
}
