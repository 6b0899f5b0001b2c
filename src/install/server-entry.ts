/**
 * The entry of one server: how an agent starts or reaches the program, and the mark that says who
 * wrote it.
 */

import { createHash } from 'node:crypto'
import { basename, relative } from 'node:path'
import type { StartInfo } from '../cli/types.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { resolveRealPath } from '../util/files.ts'
import { compact, isObject, toStableJson } from '../util/values.ts'
import type {
  AgentEnvironment,
  AgentServerConfig,
  InstallScope,
  ServerTarget,
} from './agents/agent.ts'
import { findProgram } from './agents/agent.ts'
import type { ConfigObject, CreatedParts } from './formats/format.ts'

/** How the caller wants the server to be reached. */
export type ServerInput = {
  readonly transport?: 'stdio' | 'http'
  readonly url?: string
  readonly command?: string
  readonly arg?: readonly string[]
  readonly env?: readonly string[]
}

/**
 * The server that agents are told about. Throws INVALID_INPUT for wishes that do not go together.
 */
export function createServerTarget(
  { transport, url, command, arg, env }: ServerInput,
  start: LaunchCommand,
): ServerTarget {
  if ((transport ?? (url === undefined ? 'stdio' : 'http')) === 'http') {
    const field = Object.entries({ command, arg, env }).find(
      ([, value]) => value !== undefined,
    )?.[0]
    if (field !== undefined)
      throw new ToolError(
        'INVALID_INPUT',
        `${field}: a server that is reached over HTTP is not started by the agent`,
        { field, suggestion: `Leave out --${field}, or --url` },
      )
    return { transport: 'http', url: parseUrl(url), headers: {} }
  }
  if (url !== undefined)
    throw new ToolError('INVALID_INPUT', 'url: a server that the agent starts has no address', {
      field: 'url',
      suggestion: 'Leave out --url, or say --transport http',
    })
  const { command: program, args } = command === undefined ? start : { command, args: [] }
  return {
    transport: 'stdio',
    command: program,
    args: [...args, ...(arg ?? []), '--serve-mcp', 'stdio'],
    env: Object.fromEntries((env ?? []).map(parseVariable)),
  }
}

function parseUrl(url: string | undefined): string {
  const example = 'Give the address of the endpoint, such as --url http://127.0.0.1:8080/mcp'
  if (url === undefined)
    throw new ToolError(
      'MISSING_PARAM',
      'url: a server that is reached over HTTP needs an address',
      { field: 'url', suggestion: example },
    )
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new ToolError('INVALID_INPUT', `url: '${url}' is not an http or https address`, {
      field: 'url',
      suggestion: example,
    })
  return url
}

function parseVariable(given: string): [string, string] {
  const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=([^]*)$/.exec(given) ?? []
  if (name === undefined || value === undefined)
    throw new ToolError('INVALID_INPUT', `env: '${given}' is not NAME=value`, {
      field: 'env',
      suggestion: 'Write it as --env NAME=value',
    })
  if (name === MARK_VARIABLE)
    throw new ToolError(
      'INVALID_INPUT',
      `env: ${name} is how entries are marked, and cannot be set`,
      { field: 'env' },
    )
  return [name, value]
}

/** A program and the arguments before those that are for it. */
type LaunchCommand = { readonly command: string; readonly args: readonly string[] }

/**
 * How an agent can start the program that runs now: by its name where it is installed, through npx
 * where it is a package of the project, else by interpreter and file.
 */
export function getLaunchCommand(
  { args = [], ...started }: StartInfo,
  program: string,
  scope: InstallScope,
  environment: AgentEnvironment,
): LaunchCommand {
  const start = getScriptCommand(started, program, scope, environment)
  return { command: start.command, args: [...start.args, ...args] }
}

function getScriptCommand(
  { execPath, execArgv, script }: StartInfo,
  program: string,
  scope: InstallScope,
  environment: AgentEnvironment,
): LaunchCommand {
  if (script === undefined) return { command: program, args: [] }
  if (script === execPath) return { command: execPath, args: [] }
  const name = basename(script)
  const installed = findProgram(name, environment, (folder) => !isPackageBin(folder))
  if (installed !== undefined && resolveRealPath(installed) === resolveRealPath(script))
    return { command: name, args: [] }
  return (
    getNpxCommand(script, scope, environment) ?? {
      command: getInterpreter(execPath, environment),
      args: [...execArgv.filter((option) => !option.startsWith('--inspect')), script],
    }
  )
}

// npm puts such folders on the PATH of what it runs; agents do not have them there.
function isPackageBin(folder: string): boolean {
  return /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)
}

function getNpxCommand(
  script: string,
  scope: InstallScope,
  { cwd }: AgentEnvironment,
): LaunchCommand | undefined {
  const name = /[\\/]node_modules[\\/]\.bin[\\/]([^\\/]+)$/.exec(script)?.[1]
  if (name === undefined) return undefined
  // What npx fetched for this one call may be gone tomorrow.
  const fetched = /[\\/]_npx[\\/]/.test(script)
    ? /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(resolveRealPath(script) ?? '')?.[1]
    : undefined
  if (fetched !== undefined)
    return { command: 'npx', args: ['-y', `--package=${fetched.replaceAll('\\', '/')}`, name] }
  // Never fetched by a name that might be somebody else's.
  return scope === 'project' && !relative(cwd, script).startsWith('..')
    ? { command: 'npx', args: ['--no-install', name] }
    : undefined
}

function getInterpreter(execPath: string, environment: AgentEnvironment): string {
  const name = basename(execPath).replace(/\.exe$/i, '')
  return findProgram(name, environment) === undefined ? execPath : name
}

/**
 * The environment variable and the HTTP header that mark an entry as ours: the one place where
 * every agent lets us write something, and keeps it.
 */
const MARK_VARIABLE = 'TOOLABLE_INSTALLED'
const MARK_HEADER = 'Toolable-Installed'

/** Who wrote an entry, what it was then, and what was made for it. */
export type EntryMark = {
  readonly program: string
  readonly digest: string
  readonly made: CreatedParts
  /** As it stands in the file. */ readonly text: string
}

/** The entry of a server in an agent's form, with our mark. */
export function toMarkedEntry(
  server: ServerTarget,
  place: AgentServerConfig,
  program: string,
  made: CreatedParts,
): ConfigObject {
  const text = formatMark(program, hashEntry(toBareEntry(server, place)), made)
  return toEntry(
    server.transport === 'stdio'
      ? { ...server, env: { ...server.env, [MARK_VARIABLE]: text } }
      : { ...server, headers: { ...server.headers, [MARK_HEADER]: text } },
    place,
  )
}

/** The entry of a server as people write it by hand. */
export function toBareEntry(server: ServerTarget, place: AgentServerConfig): ConfigObject {
  return stripMark(toEntry(server, place), place)
}

function toEntry(
  server: ServerTarget,
  { types, headersField = 'headers' }: AgentServerConfig,
): ConfigObject {
  const type = types?.[server.transport]
  if (server.transport === 'http')
    return compact({ type, url: server.url, [headersField]: server.headers })
  const { command, args, env } = server
  return compact({ type, command, args, env })
}

/** An entry without our mark. */
export function stripMark(entry: ConfigObject, place: AgentServerConfig): ConfigObject {
  const bare: Record<string, unknown> = { ...entry }
  for (const [field, name] of listMarkPlaces(place)) {
    const value = bare[field]
    if (!isObject(value)) continue
    const { [name]: _mark, ...others } = value
    if (Object.keys(others).length > 0) bare[field] = others
    else delete bare[field]
  }
  return bare
}

/** The mark of an entry; undefined for one that we did not write. */
export function parseMark(entry: ConfigObject, place: AgentServerConfig): EntryMark | undefined {
  const [text] = listMarkPlaces(place).flatMap(([field, name]) => {
    const value = entry[field]
    return isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []
  })
  if (typeof text !== 'string') return undefined
  const [, program, digest, made = ''] = /^(\S+) ([0-9a-f]{16})(?: (\S+))?$/.exec(text) ?? []
  if (program === undefined || digest === undefined) return undefined
  return { program, digest, made: parseCreatedParts(made), text }
}

function listMarkPlaces({ headersField = 'headers' }: AgentServerConfig) {
  return [
    ['env', MARK_VARIABLE],
    [headersField, MARK_HEADER],
  ] as const
}

/** A mark as it stands in a file. */
export function formatMark(
  program: string,
  digest: string,
  { part, opened, folders = 0 }: CreatedParts,
): string {
  const words = [part, opened && 'opened', folders > 0 && `folders=${folders}`].filter(Boolean)
  return [program, digest, ...(words.length > 0 ? [words.join(',')] : [])].join(' ')
}

/** What an entry holds, in sixteen letters; the order of keys does not count. */
export function hashEntry(entry: ConfigObject): string {
  return hashToHex(toStableJson(entry))
}

/** The first sixteen hex digits of the SHA-256 of a text. */
export function hashToHex(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function parseCreatedParts(text: string): CreatedParts {
  const words = text.split(',')
  const part = (['file', 'root', 'container'] as const).find((name) => words.includes(name))
  const folders = Number(
    words.find((word) => word.startsWith('folders='))?.slice('folders='.length) ?? 0,
  )
  return compact({
    part,
    opened: words.includes('opened') || undefined,
    folders: Number.isInteger(folders) && folders > 0 ? folders : undefined,
  })
}
