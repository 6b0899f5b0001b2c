import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toMilliseconds } from '../../contract/duration.ts'
import type { Duration } from '../../contract/duration.ts'
import { isObject } from '../../contract/json.ts'
import type { Root } from '../../contract/interaction.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { baseEnvironment } from '../../process/base-environment.ts'
import { expandValues, expandVariables } from '../expand-variables.ts'
import type { LoadContext } from '../source.ts'

/** A server in the standard `mcpServers` form: either `command` or `url`. `${NAME}` and `${NAME:-default}` are replaced from the environment of the host. */
export type McpServerConfig = {
  readonly command?: string
  readonly args?: readonly string[]
  /** Given to the server besides the base allow-list. */
  readonly env?: { readonly [name: string]: string }
  readonly cwd?: string
  readonly url?: string
  readonly headers?: { readonly [name: string]: string }
  readonly type?: string
  readonly disabled?: boolean
  readonly enabled?: boolean
  /** Longest time to connect; default 10 seconds. */
  readonly timeout?: Duration
  /** Longest time of a call; default: as the caller says, and ten minutes without a sign of life. */
  readonly callTimeout?: Duration
  /** The places that the server is told to work in: a list of folders, or true for those of the caller. Default: it is told nothing. */
  readonly roots?: boolean | readonly string[]
}

export type StdioSettings = {
  readonly command: readonly [string, ...string[]]
  readonly env: { readonly [name: string]: string }
  readonly cwd: string
}
export type HttpSettings = {
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  /** Absent: whichever the server speaks. */ readonly type?: 'http' | 'sse'
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

const START_TIMEOUT = 10
// Shorter ones are words that stand everywhere.
const SHORTEST_SECRET = 8

/** True where the configuration says that the server is not wanted now. */
export function isDisabled(config: McpServerConfig): boolean {
  return isObject(config) && (config.disabled === true || config.enabled === false)
}

/** What can be said about where a server is before its configuration is read. */
export function locationOf(config: McpServerConfig): string {
  const { command, args, url }: { readonly [key: string]: unknown } = isObject(config) ? config : {}
  if (typeof command === 'string') return [command, ...(Array.isArray(args) ? args : [])].join(' ')
  return typeof url === 'string'
    ? url.replace(/\/\/[^/]*@/, '//').replace(/[?#].*$/s, '')
    : 'nowhere'
}

/** Reads a configuration; throws CONFIG, saying what to change. */
export function readSettings(
  name: string,
  config: McpServerConfig,
  { env, cwd }: Pick<LoadContext, 'env' | 'cwd'>,
): McpSettings {
  const what = `MCP server '${name}'`
  if (!isObject(config))
    throw new ToolError('CONFIG', `${what} needs a configuration: { command, args } or { url }`)
  const place = readPlace(what, config, env, cwd)
  const { timeout = START_TIMEOUT, callTimeout } = config
  return {
    name,
    place,
    location: locationOf(config),
    secrets: ('stdio' in place
      ? Object.keys(config.env ?? {}).map((key) => place.stdio.env[key] ?? '')
      : Object.values(place.http.headers)
    ).filter((value) => value.length >= SHORTEST_SECRET),
    startTimeout: readDuration(what, 'timeout', timeout),
    callTimeout:
      callTimeout === undefined ? undefined : readDuration(what, 'callTimeout', callTimeout) / 1000,
    roots: readRoots(what, config.roots, env, cwd),
    cwd,
  }
}

function readPlace(
  what: string,
  config: McpServerConfig,
  env: LoadContext['env'],
  cwd: string,
): McpSettings['place'] {
  const {
    command,
    args = [],
    env: own,
    cwd: folder,
    url,
    headers,
    type,
  }: { readonly [key: string]: unknown } = config
  if (typeof command === 'string' && command !== '') {
    if (!Array.isArray(args) || args.some((arg) => typeof arg !== 'string'))
      throw new ToolError('CONFIG', `'args' of ${what} must be a list of texts`)
    const expand = (text: string): string => expandVariables(text, env, what)
    return {
      stdio: {
        command: [expand(command), ...args.map(expand)],
        env: { ...baseEnvironment(env), ...expandValues(readTexts(what, 'env', own), env, what) },
        cwd: typeof folder === 'string' ? resolve(cwd, expand(folder)) : cwd,
      },
    }
  }
  if (typeof url !== 'string' || url === '')
    throw new ToolError('CONFIG', `${what} needs a 'command' to start or a 'url' to connect to`)
  return {
    http: {
      url: readUrl(what, expandVariables(url, env, what)),
      headers: expandValues(readTexts(what, 'headers', headers), env, what),
      ...readType(what, type),
    },
  }
}

function readTexts(what: string, key: string, given: unknown): { readonly [name: string]: string } {
  if (given === undefined) return {}
  if (!isObject(given))
    throw new ToolError('CONFIG', `'${key}' of ${what} must be an object of texts`)
  return given as { readonly [name: string]: string }
}

function readUrl(what: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new ToolError('CONFIG', `the url of ${what} must begin with http:// or https://`)
  return url
}

function readType(what: string, type: unknown): { readonly type?: 'http' | 'sse' } {
  if (type === undefined) return {}
  if (type === 'sse') return { type }
  if (type === 'http' || type === 'streamable-http' || type === 'streamableHttp')
    return { type: 'http' }
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
  env: LoadContext['env'],
  cwd: string,
): McpSettings['roots'] {
  if (roots === undefined || roots === false) return 'none'
  if (roots === true) return 'caller'
  if (!Array.isArray(roots) || roots.some((root) => typeof root !== 'string'))
    throw new ToolError('CONFIG', `'roots' of ${what} must be true or a list of folders`)
  return roots.map((root) => {
    const place = expandVariables(root, env, what)
    return { uri: /^\w[\w+.-]+:\/\//.test(place) ? place : pathToFileURL(resolve(cwd, place)).href }
  })
}
