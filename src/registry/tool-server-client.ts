/**
 * Tools of an HTTP server with `GET /list_tools` and `POST /call_tool`.
 */

import type { Context } from '../protocol/context.ts'
import { readOutcome } from '../protocol/dialects/read-outcome.ts'
import type { Annotations } from '../protocol/manifest.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { JsonObject } from '../util/values.ts'
import { defineForeign } from './foreign/define-foreign.ts'
import { readToolResult, toReply, toStatusError } from './foreign/reply.ts'
import { sendRequest } from './http.ts'
import type { HttpResult } from './http.ts'
import { toSummary } from './names.ts'
import type { ForeignMetadata, FoundTool, LoadedSource, Problem } from './source.ts'

const MAX_TOOLS = 10_000

/** Asks a server for its tools; throws ToolError where it does not tell. */
export async function listServerTools(
  server: ToolServer,
  signal: AbortSignal,
): Promise<LoadedSource> {
  const { what, name, location } = server
  const answer = await sendRequest({
    url: toEndpointUrl(server, 'list_tools'),
    method: 'GET',
    headers: { accept: 'application/json', ...server.headers },
    signal,
    timeout: server.listTimeout,
    who: what,
  })
  if (answer.status >= 300) throw toStatusError(answer, what, 'list_tools')
  const entries = listManifestEntries(answer.document)
  if (!entries)
    throw new ToolError(
      'DEPENDENCY',
      `${what} answered /list_tools with something that is no list of tools: ${JSON.stringify(shorten(answer.bytes.toString('utf8', 0, 200), 100))}`,
      { retryable: false, suggestion: `Look at it: curl ${location}/list_tools` },
    )
  const problems: Problem[] = []
  const tools = entries.slice(0, MAX_TOOLS).flatMap((entry, index): readonly FoundTool[] => {
    const manifest = readToolManifest(entry)
    if (typeof manifest !== 'string') return [toFoundTool(manifest, server)]
    problems.push({
      source: name,
      location,
      reason: 'manifest',
      message: `entry ${index + 1} of the list of ${what} is no tool: ${manifest}`,
      fix: 'Its author should give it a name and JSON Schema parameters',
      severity: 'error',
    })
    return []
  })
  if (entries.length > MAX_TOOLS)
    problems.push({
      source: name,
      location,
      reason: 'too-many',
      message: `${what} has ${entries.length} tools; ${MAX_TOOLS} are taken`,
      fix: 'Split the server',
      severity: 'warning',
    })
  return { tools, problems }
}

function toFoundTool({ name, facts }: ServerToolManifest, server: ToolServer): FoundTool {
  return {
    source: server.name,
    name,
    tier: 'server',
    kind: 'tool server',
    location: server.location,
    summary: toSummary(name, facts),
    tags: facts.tags ?? [],
    define: (own) =>
      defineForeign(own, facts, (input, ctx) => callServerTool(server, name, input, ctx)),
  }
}

/** Calls a tool of a server; throws ToolError. */
async function callServerTool(
  server: ToolServer,
  name: string,
  input: JsonObject,
  ctx: Context,
): Promise<unknown> {
  const answer = await sendRequest({
    url: toEndpointUrl(server, 'call_tool'),
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/plain',
      ...server.headers,
    },
    body: JSON.stringify({ name, arguments: input }),
    signal: ctx.signal,
    timeout: server.callTimeout,
    who: server.what,
  })
  if (answer.status >= 300) throw toStatusError(answer, server.what, name)
  return readCallResult(answer, server, name, ctx)
}

function readCallResult(
  { document, bytes, type }: HttpResult,
  server: ToolServer,
  name: string,
  ctx: Context,
): unknown {
  if (document === undefined) return readTextResult(bytes, type, server)
  if (isToolResult(document)) return readToolResult(document, name, (text) => ctx.log(text, 'warn'))
  const outcome = readOutcome(document, { tool: name })
  return outcome ? toReply(outcome) : document
}

// The form of MCP: pieces of content, each with a type.
function isToolResult(document: unknown): document is JsonObject {
  if (!isObject(document)) return false
  const { content, isError } = document
  return Array.isArray(content)
    ? content.every((block) => isObject(block) && typeof block['type'] === 'string') &&
        (content.length > 0 || isError !== undefined)
    : isError === true
}

function readTextResult(bytes: Buffer, type: string, { what }: ToolServer): unknown {
  if (bytes.length === 0) return null
  const text = bytes.toString('utf8')
  const isText =
    type === '' ||
    type.startsWith('text/plain') ||
    type.startsWith('text/markdown') ||
    type.startsWith('text/csv')
  if (isText && !text.includes('\uFFFD') && !text.includes('\0')) return text
  throw new ToolError(
    'DEPENDENCY',
    `${what} answered with ${type === '' ? 'bytes' : type} that are neither JSON nor text: ${JSON.stringify(shorten(text, 60))}`,
    {
      retryable: false,
      suggestion: { action: 'use_different_tool', fix: 'Its author should answer with JSON' },
    },
  )
}

/** One entry of a list of tools. */
type ServerToolManifest = { readonly name: string; readonly facts: ForeignMetadata }

/**
 * The entries of a list in any of its forms: a list, `{tools: [...]}`, or `{service: {tools:
 * [...]}, ...}`; undefined where there is none.
 */
function listManifestEntries(document: unknown): readonly unknown[] | undefined {
  if (Array.isArray(document)) return document
  if (!isObject(document)) return undefined
  if (Array.isArray(document['tools'])) return document['tools']
  const services = Object.values(document).flatMap((service) =>
    isObject(service) && Array.isArray(service['tools']) ? [service['tools'] as unknown[]] : [],
  )
  return services.length === 0 ? undefined : services.flat()
}

/**
 * Reads an entry: the plain form (`parameters`), the function form of OpenAI, or the form of MCP
 * (`inputSchema`). A text says why it cannot be read.
 */
function readToolManifest(entry: unknown): ServerToolManifest | string {
  const fields = isObject(entry) && isObject(entry['function']) ? entry['function'] : entry
  if (!isObject(fields)) return 'it is no object'
  const { name, title, description, tags, annotations } = fields
  if (typeof name !== 'string' || name === '') return "it has no 'name'"
  const input = [fields['parameters'], fields['inputSchema'], fields['input_schema']].find(
    (schema) => schema !== undefined && schema !== null,
  )
  if (input !== undefined && !isObject(input))
    return `the parameters of '${name}' are no JSON Schema`
  const output = [fields['outputSchema'], fields['output_schema']].find(isObject)
  return {
    name,
    facts: compact({
      title: typeof title === 'string' && title.trim() !== '' ? title : undefined,
      description: typeof description === 'string' ? description : undefined,
      tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : undefined,
      inputSchema:
        input !== undefined && Object.keys(input).length > 0
          ? { type: 'object', ...input }
          : undefined,
      outputSchema: output,
      annotations: isObject(annotations) ? readHintAnnotations(annotations) : undefined,
    }),
  }
}

function readHintAnnotations(hints: { readonly [name: string]: unknown }): Annotations {
  const names = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const hint = [hints[`${name}Hint`], hints[name]].find((value) => typeof value === 'boolean')
      return hint === undefined ? [] : [[name, hint]]
    }),
  )
}

/** A tool server with everything replaced and checked. */
export type ToolServer = {
  readonly name: string
  /** `tool server 'x'`, for messages. */
  readonly what: string
  readonly location: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  /** Milliseconds. */
  readonly listTimeout: number
  readonly callTimeout: number
}

/** The address of one of its two functions: behind its path, before its query. */
function toEndpointUrl({ url }: ToolServer, name: 'list_tools' | 'call_tool'): URL {
  const address = new URL(url)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/${name}`
  return address
}
