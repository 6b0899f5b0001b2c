/**
 * The types of manifests, and the keys all forms share.
 */

import type { ReadProblem, ReadResult } from '../../protocol/documents.ts'
import { failReading } from '../../protocol/documents.ts'
import type { Annotations, Permissions } from '../../protocol/manifest.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject, ownFields } from '../../util/values.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'

/** How a program of a folder is started: through an interpreter, or as it is. */
export type ScriptRunner = 'python' | 'bash' | 'node' | 'exec'

/** A server that a manifest names, in the forms of the registry's own options. */
export type NamedServer =
  | {
      readonly protocol: 'mcp'
      readonly command: string
      readonly args: readonly string[]
      readonly env?: { readonly [name: string]: string }
    }
  | {
      readonly protocol: 'mcp' | 'call_tool'
      readonly url: string
      readonly headers?: { readonly [name: string]: string }
    }

/**
 * A tool as a manifest describes it. Its program is looked up each time, because it can change
 * without the manifest.
 */
export type ToolFile = {
  readonly style: 'fractalic' | 'orchestration'
  readonly name: string
  readonly version?: string
  readonly facts: ForeignMetadata
  /** As it is written; absent: the entry of the tool's own folder. */
  readonly entry?: string
  /** Absent: by the name of the entry. */
  readonly runner?: ScriptRunner
  readonly call: Omit<ChildCall, 'command'>
  /** It starts other tools, and may report their tasks. */
  readonly orchestrator?: true
  /** Arguments that make the program test itself. */
  readonly selftest?: readonly string[]
}

/** Tools of a server, or one of them, as a manifest describes it. */
export type ServerFile = {
  readonly style: 'fractalic'
  readonly name: string
  readonly server: NamedServer
  /** The one tool that the manifest describes, by its name on the server; absent: all of them. */
  readonly tool?: string
  readonly facts: ForeignMetadata
}

export type ManifestFile = ToolFile | ServerFile

/**
 * What a manifest says besides name, schema and program. Values of a wrong type are left out. Here
 * and below, `data` has own fields only (`ownFields`).
 */
export function readMetadata(data: JsonObject): ForeignMetadata {
  const { permissions, timeout, annotations } = data
  const isLimit = typeof timeout === 'number' && timeout > 0 && Number.isFinite(timeout)
  return compact({
    title: toText(data['title']),
    summary: toText(data['summary']),
    description: toText(data['description']),
    tags: Array.isArray(data['tags']) ? filterTexts(data['tags']) : undefined,
    timeout: isLimit ? timeout : undefined,
    permissions: permissions === undefined ? undefined : readPermissions(data),
    annotations: isObject(annotations) ? readAnnotations(annotations) : undefined,
    dryRun: data['dryRun'] === true || undefined,
    streaming: data['streaming'] === true || undefined,
    session: data['session'] === true || undefined,
  })
}

/**
 * The permissions of a manifest; an empty key asks for nothing. The resources and secrets beside
 * its permissions belong to them.
 */
export function readPermissions({ permissions, resources, secrets }: JsonObject): Permissions {
  const more = compact({ resources: resources ?? undefined, secrets: secrets ?? undefined })
  return { ...ownFields(permissions), ...more }
}

/**
 * Why the permissions of a manifest cannot be read at all. The grants themselves are checked when
 * the tool is run.
 */
export function findPermissionsProblem({
  permissions = null,
}: JsonObject): { readonly problem: ReadProblem } | undefined {
  if (permissions === null || isObject(permissions)) return undefined
  return failReading(
    'manifest',
    "has 'permissions' that are not a mapping",
    'Write permissions: {filesystem: ..., network: ...}; {} asks for nothing but the workspace',
  )
}

/** True for a JSON Schema of objects; `type: object` may be left out. */
export function isObjectSchema(value: unknown): value is JsonSchema {
  return isObject(value) && (ownFields(value)['type'] ?? 'object') === 'object'
}

/** The texts of a list; none for anything else. */
export function filterTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The texts of an object, by name; numbers become texts. */
export function toTextMap(value: unknown): { [name: string]: string } | undefined {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value)
    .filter(([, item]) => typeof item === 'string' || typeof item === 'number')
    .map(([name, item]) => [name, String(item)])
  return Object.fromEntries(entries) as { [name: string]: string }
}

/** What is wrong with a name; it may be any text of one line. */
export function findNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'has no name'
  if (name.length > 256) return 'has a name of more than 256 characters'
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)
    ? 'has control characters in its name'
    : undefined
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function readAnnotations(annotations: JsonObject): Annotations {
  const data = ownFields(annotations)
  const names = ['readOnly', 'destructive', 'idempotent', 'openWorld']
  return Object.fromEntries(
    names.filter((name) => typeof data[name] === 'boolean').map((name) => [name, data[name]]),
  )
}

/**
 * Reads a manifest with `command: mcp`. With parameters it describes one tool of the server,
 * without them it brings all of its tools.
 */
export function readServerManifest(
  data: JsonObject,
  name: string,
  facts: ForeignMetadata,
  isOneTool: boolean,
): ReadResult<ManifestFile> {
  const server = findNamedServer(data)
  if (!server)
    return failReading(
      'manifest',
      "has the command mcp, but its 'entry' is neither an address nor a command",
      'Write entry: http://host:port (a server with /list_tools and /call_tool), entry: https://host/mcp, or entry: a command that starts an MCP server on stdio',
    )
  const byDefault = isOneTool ? name : undefined
  const tool = typeof data['tool'] === 'string' ? data['tool'] : byDefault
  return { value: compact({ style: 'fractalic', name, server, facts, tool }) }
}

/** True for a command that is a file of the folder; a bare word is a program of the machine. */
export function isFileCommand(command: string): boolean {
  return /[\\/.]/.test(command)
}

function findNamedServer(data: JsonObject): NamedServer | undefined {
  const { url } = data
  const entry = data['entry'] ?? url
  if (typeof entry === 'string' && /^https?:\/\//i.test(entry))
    return toAddressedServer(data, entry, entry === url)
  const words = typeof entry === 'string' ? entry.trim().split(/\s+/) : filterTexts(entry)
  const [command = '', ...args] = words
  if (command === '') return undefined
  return compact({
    protocol: 'mcp',
    command,
    args: [...args, ...filterTexts(data['args'])],
    env: toTextMap(data['env']),
  })
}

// The specification uses this name for servers with /list_tools and /call_tool; an MCP server is
// recognized by its key, its type or its path.
function toAddressedServer(data: JsonObject, address: string, hasUrlKey: boolean): NamedServer {
  const isMcp =
    hasUrlKey ||
    (data['type'] ?? data['transport']) !== undefined ||
    /\/(mcp|sse)\/?$/i.test(address)
  return compact({
    protocol: isMcp ? 'mcp' : 'call_tool',
    url: isMcp ? address : address.replace(/\/+(call_tool|list_tools)?\/*$/, ''),
    headers: toTextMap(data['headers']),
  })
}
