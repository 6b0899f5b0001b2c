/**
 * The types of manifests, and the keys all forms share.
 */

import { failReading } from '../../protocol/documents.ts'
import type { ReadProblem, ReadResult } from '../../protocol/documents.ts'
import type { Annotations, Permissions } from '../../protocol/manifest.ts'
import { compact, isObject } from '../../util/values.ts'
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
 * A tool as a manifest describes it. Where its program lies is looked up each time, because that
 * changes without the manifest.
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
  /** It starts other tools, and may tell about its tasks. */
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

type MetadataSource = { readonly [key: string]: unknown }

/** What a manifest says besides name, schema and program. What has the wrong type is not taken. */
export function readMetadata(data: MetadataSource): ForeignMetadata {
  const timeout = getOwn(data, 'timeout')
  const permissions = getOwn(data, 'permissions')
  const annotations = getOwn(data, 'annotations')
  return {
    ...readTextField(data, 'title'),
    ...readTextField(data, 'summary'),
    ...readTextField(data, 'description'),
    ...compact({
      tags: Array.isArray(getOwn(data, 'tags')) ? filterTexts(getOwn(data, 'tags')) : undefined,
      timeout:
        typeof timeout === 'number' && timeout > 0 && Number.isFinite(timeout)
          ? timeout
          : undefined,
      permissions: permissions !== undefined ? readPermissions(data) : undefined,
      annotations: isObject(annotations) ? readAnnotations(annotations) : undefined,
      dryRun: getOwn(data, 'dryRun') === true || undefined,
      streaming: getOwn(data, 'streaming') === true || undefined,
      session: getOwn(data, 'session') === true || undefined,
    }),
  }
}

/**
 * What a manifest says about what its tool may do; an empty key asks for nothing. The resources and
 * secrets that stand beside its permissions belong to them.
 */
export function readPermissions(data: MetadataSource): Permissions {
  const permissions = getOwn(data, 'permissions')
  const beside = ['resources', 'secrets'].filter(
    (key) => getOwn(data, key) !== undefined && getOwn(data, key) !== null,
  )
  return {
    ...(isObject(permissions) && permissions),
    ...Object.fromEntries(beside.map((key) => [key, data[key]])),
  }
}

/**
 * Why the permissions of a manifest cannot be taken at all. What they ask for is looked at when the
 * tool is run.
 */
export function findPermissionsProblem(
  data: MetadataSource,
): { readonly problem: ReadProblem } | undefined {
  const permissions = getOwn(data, 'permissions') ?? undefined
  return permissions === undefined || isObject(permissions)
    ? undefined
    : failReading(
        'manifest',
        "has 'permissions' that are not a mapping",
        'Write permissions: {filesystem: ..., network: ...}; {} asks for nothing but the workspace',
      )
}

/** A key that the data itself has. */
export function getOwn(data: MetadataSource, key: string): unknown {
  return Object.hasOwn(data, key) ? data[key] : undefined
}

/** The texts of a list. */
export function filterTexts(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : []
}

/** The texts of an object, by name. */
export function toTextMap(value: unknown): { [name: string]: string } | undefined {
  if (!isObject(value)) return undefined
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        (entry): entry is [string, string | number] =>
          typeof entry[1] === 'string' || typeof entry[1] === 'number',
      )
      .map(([name, item]) => [name, String(item)]),
  )
}

/** What is wrong with a name; it may be any text of one line. */
export function findNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.trim() === '') return 'has no name'
  if (name.length > 256) return 'has a name of more than 256 characters'
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name)
    ? 'has control characters in its name'
    : undefined
}

function readTextField(
  data: MetadataSource,
  key: 'title' | 'summary' | 'description',
): { [key: string]: string } {
  const value = getOwn(data, key)
  return typeof value === 'string' && value.trim() !== '' ? { [key]: value } : {}
}

function readAnnotations(data: MetadataSource): Annotations {
  return Object.fromEntries(
    ['readOnly', 'destructive', 'idempotent', 'openWorld']
      .filter((key) => typeof getOwn(data, key) === 'boolean')
      .map((key) => [key, data[key]]),
  )
}

type NamedServerData = { readonly [key: string]: unknown }

/**
 * Reads a manifest with `command: mcp`. With parameters it describes one tool of the server,
 * without them it brings all of its tools.
 */
export function readServerManifest(
  data: NamedServerData,
  name: string,
  facts: ForeignMetadata,
  oneTool: boolean,
): ReadResult<ManifestFile> {
  const server = findNamedServer(data)
  if (!server)
    return failReading(
      'manifest',
      "has the command mcp, but its 'entry' is neither an address nor a command",
      'Write entry: http://host:port (a server with /list_tools and /call_tool), entry: https://host/mcp, or entry: a command that starts an MCP server on stdio',
    )
  const tool = getOwn(data, 'tool')
  return {
    value: {
      style: 'fractalic',
      name,
      server,
      facts,
      ...compact({
        tool:
          oneTool || typeof tool === 'string'
            ? typeof tool === 'string'
              ? tool
              : name
            : undefined,
      }),
    },
  }
}

/** True for a command that is a file of the folder; a bare word is a program of the machine. */
export function isFileCommand(command: string): boolean {
  return /[\\/.]/.test(command)
}

function findNamedServer(data: NamedServerData): NamedServer | undefined {
  const url = getOwn(data, 'url')
  const entry = getOwn(data, 'entry') ?? url
  if (typeof entry === 'string' && /^https?:\/\//i.test(entry))
    return toAddressedServer(data, entry, entry === url)
  const words = typeof entry === 'string' ? entry.trim().split(/\s+/) : filterTexts(entry)
  const [command, ...rest] = words
  if (command === undefined || command === '') return undefined
  const env = toTextMap(getOwn(data, 'env'))
  return {
    protocol: 'mcp',
    command,
    args: [...rest, ...filterTexts(getOwn(data, 'args'))],
    ...compact({ env }),
  }
}

// The specification calls servers with /list_tools and /call_tool by this name; a server of the
// real protocol is told by its key, its type or its path.
function toAddressedServer(data: NamedServerData, address: string, keyed: boolean): NamedServer {
  const headers = toTextMap(getOwn(data, 'headers'))
  const type = getOwn(data, 'type') ?? getOwn(data, 'transport')
  const real = keyed || type !== undefined || /\/(mcp|sse)\/?$/i.test(address)
  const url = real ? address : address.replace(/\/+(call_tool|list_tools)?\/*$/, '')
  const protocol: 'mcp' | 'call_tool' = real ? 'mcp' : 'call_tool'
  return compact({ protocol, url, headers })
}
