/**
 * A tool server: an HTTP server with `GET <url>/list_tools` and `POST <url>/call_tool`.
 */

import { toToolError } from '../../core/errors.ts'
import type { Context } from '../../protocol/context.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import type { Duration } from '../../protocol/limits.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { asList, asObject, asText, compact, isObject } from '../../util/values.ts'
import { toServerTool } from '../foreign/define-foreign.ts'
import { readToolResult, toReply, toStatusError } from '../foreign/reply.ts'
import type { HttpResult } from '../http.ts'
import { redactUrl, requireHttpUrl, sendRequest, toHostName } from '../http.ts'
import type { ForeignMetadata, FoundTool, LoadedSource, Problem, ToolSource } from '../source.ts'
import {
  createReporter,
  expandValues,
  expandVariables,
  readAnnotations,
  toBrokenSource,
} from '../source.ts'

/**
 * A tool server. `${NAME}` in `url` and `headers` is replaced from the environment of the host.
 */
export type ToolServerOptions = {
  readonly url: string
  /** Default: its host and port. */
  readonly name?: string
  readonly headers?: { readonly [name: string]: string }
  /** Longest time of a call; default 5 minutes. */
  readonly timeout?: Duration
}

/** A tool server with everything replaced and checked. */
type ToolServer = {
  readonly name: string
  /** `tool server 'x'`, for messages. */
  readonly what: string
  readonly location: string
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly callTimeoutMs: number
}

const LIST_TIMEOUT_MS = 10_000
const DEFAULT_CALL_TIMEOUT = '5m'
const MAX_TOOLS = 10_000
const TEXT_TYPES = ['text/plain', 'text/markdown', 'text/csv']

/** Opens a tool server. */
export function openSource({
  url,
  name = toHostName(url),
  headers,
  timeout = DEFAULT_CALL_TIMEOUT,
}: ToolServerOptions): ToolSource {
  const location = redactUrl(url)
  const what = `tool server '${name}'`
  return {
    name,
    kind: 'tool server',
    location,
    async load({ env, signal }) {
      try {
        const server = {
          name,
          what,
          location,
          url: requireHttpUrl(expandVariables(url, env, what), `url of ${what}`),
          headers: expandValues(headers, env, what),
          callTimeoutMs: toMilliseconds(timeout, 'timeout'),
        }
        return await listServerTools(server, signal)
      } catch (error) {
        const { code, message, suggestion } = toToolError(error)
        const fix = suggestion?.fix ?? `Try it by hand: curl -i ${location}/list_tools`
        return toBrokenSource(name, location, code === 'CONFIG' ? 'config' : 'dead', message, fix)
      }
    },
  }
}

/** Lists the tools of a server. Throws ToolError when it does not list them. */
async function listServerTools(server: ToolServer, signal: AbortSignal): Promise<LoadedSource> {
  const { what, name, location } = server
  const answer = await sendRequest({
    url: toEndpointUrl(server, 'list_tools'),
    method: 'GET',
    headers: { accept: 'application/json', ...server.headers },
    signal,
    timeout: LIST_TIMEOUT_MS,
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
  const report = createReporter(name, location, problems)
  const tools = entries.slice(0, MAX_TOOLS).flatMap((entry, index): readonly FoundTool[] => {
    const manifest = readToolManifest(entry)
    if (typeof manifest !== 'string') return [toFoundTool(manifest, server)]
    report(
      'manifest',
      `entry ${index + 1} of the list of ${what} is no tool: ${manifest}`,
      'Its author should give it a name and JSON Schema parameters',
      'error',
    )
    return []
  })
  if (entries.length > MAX_TOOLS)
    report(
      'too-many',
      `${what} has ${entries.length} tools; ${MAX_TOOLS} are taken`,
      'Split the server',
    )
  return { tools, problems }
}

function toFoundTool({ name, facts }: ServerToolManifest, server: ToolServer): FoundTool {
  const about = { source: server.name, name, kind: 'tool server', location: server.location }
  return toServerTool(about, facts, (input, ctx) => callServerTool(server, name, input, ctx))
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
    timeout: server.callTimeoutMs,
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

// The form of MCP: blocks of content, each with a type.
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
  const isText = type === '' || TEXT_TYPES.some((known) => type.startsWith(known))
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
 * [...]}, ...}`. Undefined when there is none.
 */
function listManifestEntries(document: unknown): readonly unknown[] | undefined {
  if (Array.isArray(document)) return document
  if (!isObject(document)) return undefined
  if (Array.isArray(document['tools'])) return document['tools']
  const lists = Object.values(document)
    .map((service) => asObject(service)?.['tools'])
    .filter(Array.isArray)
  return lists.length === 0 ? undefined : lists.flat()
}

/**
 * Reads an entry: the plain form (`parameters`), the function form of OpenAI, or the form of MCP
 * (`inputSchema`). Returns a text that says why it cannot be read.
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
  return {
    name,
    facts: compact({
      title: asText(title),
      description: asText(description),
      tags: asList(tags).filter((tag) => typeof tag === 'string'),
      inputSchema:
        input && Object.keys(input).length > 0 ? { type: 'object', ...input } : undefined,
      outputSchema: [fields['outputSchema'], fields['output_schema']].find(isObject),
      annotations: { ...readAnnotations(annotations), ...readAnnotations(annotations, 'Hint') },
    }),
  }
}

/** The address of one of its two functions: after its path, before its query. */
function toEndpointUrl({ url }: ToolServer, name: 'list_tools' | 'call_tool'): URL {
  const address = new URL(url)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/${name}`
  return address
}
