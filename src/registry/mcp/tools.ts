/**
 * Tools of an MCP server: how they are listed, defined and called.
 */

import type { Client, Progress, StandardSchemaV1, Tool } from '@modelcontextprotocol/client'
import type { Context } from '../../protocol/context.ts'
import { MAX_TIMER_MS } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { asObject, asText, compact, isObject } from '../../util/values.ts'
import { toServerTool } from '../foreign/define-foreign.ts'
import { readToolResult } from '../foreign/reply.ts'
import type { ForeignMetadata, FoundTool, ReportProblem } from '../source.ts'
import { readAnnotations } from '../source.ts'
import type { McpConnection } from './connection.ts'
import { sendWithInputRounds } from './elicitation.ts'
import type { McpSettings } from './transports.ts'

/** A tool of a server, as the registry finds it. */
export function toMcpFoundTool(
  tool: Tool,
  version: string | undefined,
  connection: McpConnection,
  settings: McpSettings,
): FoundTool {
  const { name: source, location } = settings
  return toServerTool(
    compact({ source, version, name: tool.name, kind: 'mcp server', location }),
    toToolMetadata(tool, settings),
    (input, ctx) => callMcpTool(tool, input, ctx, connection, settings),
  )
}

function toToolMetadata(
  { title, description, inputSchema, outputSchema, annotations }: Tool,
  { callTimeout }: McpSettings,
): ForeignMetadata {
  const hints = readAnnotations(annotations, 'Hint')
  return compact({
    title: title ?? annotations?.title,
    description,
    inputSchema,
    outputSchema,
    // What only reads destroys nothing.
    annotations: hints.readOnly && hints.destructive ? { ...hints, destructive: false } : hints,
    timeout: callTimeout,
  })
}

const LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel'
const INVALID_PARAMS = -32602

/** Calls a tool of a server. Throws ToolError. */
async function callMcpTool(
  tool: Tool,
  input: JsonObject,
  ctx: Context,
  connection: McpConnection,
  settings: McpSettings,
): Promise<unknown> {
  const { name } = tool
  // Results are checked here, where the error can name the server.
  const { outputSchema, ...toolDefinition } = tool
  const reply = await connection.use(
    `the call of '${name}'`,
    ctx,
    async ({ client, isModern }, { signal, markAlive, asker, getRefusal }) => {
      const options = {
        signal,
        timeout: MAX_TIMER_MS,
        allowInputRequired: true,
        toolDefinition,
        onprogress: ({ progress, total, message }: Progress): void => {
          markAlive()
          const count = total === undefined ? String(progress) : `${progress} of ${total}`
          ctx.progress(message ?? count, total ? (progress / total) * 100 : undefined)
        },
      }
      const _meta = isModern ? { [LOG_LEVEL_META_KEY]: 'info' } : undefined
      const send = (answers: object): Promise<JsonObject> =>
        client.callTool({ name, arguments: input, ...answers, ...compact({ _meta }) }, options)
      const result = await callIfListed(name, client, connection, settings, () =>
        sendWithInputRounds(asker, settings.roots, send),
      )
      try {
        return readToolResult(result, name, (text) => ctx.log(text, 'warn'))
      } catch (error) {
        throw getRefusal() ?? error
      }
    },
  )
  if (outputSchema !== undefined)
    await checkOutputSchema(outputSchema, reply.result, name, settings)
  return reply
}

// Servers refuse a tool that is gone with the same error as a wrong input; only their list shows which
// it was.
async function callIfListed(
  tool: string,
  client: Client,
  connection: McpConnection,
  settings: McpSettings,
  call: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const requireListed = async (): Promise<void> => {
    const { tools } = await client.listTools(undefined, {
      cacheMode: 'refresh',
      timeout: settings.startTimeout,
    })
    if (tools.some(({ name }) => name === tool)) return
    connection.changed()
    throw new ToolError(
      'NOT_FOUND',
      `MCP server '${settings.name}' has no tool '${tool}' any more`,
      {
        suggestion: { action: 'use_different_tool', fix: 'Look what there is now: toolable list' },
      },
    )
  }
  try {
    const result = await call()
    if (
      result['isError'] === true &&
      /not found|unknown tool/i.test(JSON.stringify(result['content'] ?? ''))
    )
      await requireListed()
    return result
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === INVALID_PARAMS) await requireListed()
    throw error
  }
}

async function checkOutputSchema(
  schema: JsonSchema,
  result: unknown,
  tool: string,
  { name }: McpSettings,
): Promise<void> {
  const [{ compileSchema }, { describeIssues }] = await Promise.all([
    import('../../define/schema/compile.ts'),
    import('../../define/schema/issues.ts'),
  ])
  const checked = await compileSchema(schema, 'output').check(result)
  if (checked.ok) return
  throw new ToolError(
    'DEPENDENCY',
    `MCP server '${name}' answered '${tool}' with something else than its own output schema promises: the result ${describeIssues(checked.issues)}`,
    {
      retryable: false,
      suggestion: {
        action: 'use_different_tool',
        fix: `The author of '${name}' should mend the result or the schema`,
      },
    },
  )
}

const MAX_TOOL_PAGES = 200
const INVALID_RESULT = 'INVALID_RESULT'
const ANY_RESULT_SCHEMA: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'toolable', validate: (value) => ({ value }) },
}

type ListToolsOptions = NonNullable<Parameters<Client['listTools']>[1]>

/** The tools of a server. An entry that breaks the rules is reported and left out. */
export async function listMcpTools(
  client: Client,
  options: ListToolsOptions,
  { name: server }: McpSettings,
  report: ReportProblem,
): Promise<readonly Tool[]> {
  try {
    return (await client.listTools(undefined, options)).tools
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== INVALID_RESULT) throw error
    const entries = await listToolsUnchecked(client, options)
    if (!entries) throw error
    return entries.flatMap((entry, index) => {
      const tool = readToolEntry(entry)
      if (typeof tool !== 'string') return [tool]
      const name = asText(asObject(entry)?.['name'])
      const named = name === undefined ? `entry ${index + 1}` : `'${name}'`
      report(
        'tool',
        `${named} of MCP server '${server}' is no tool: ${tool}`,
        'The author of the server should mend it',
        'error',
      )
      return []
    })
  }
}

async function listToolsUnchecked(
  client: Client,
  { timeout }: ListToolsOptions,
): Promise<readonly unknown[] | undefined> {
  const entries: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_TOOL_PAGES; page += 1) {
    const answer = await client.request(
      compact({ method: 'tools/list', params: cursor !== undefined ? { cursor } : undefined }),
      ANY_RESULT_SCHEMA,
      timeout === undefined ? {} : { timeout },
    )
    const { tools, nextCursor }: JsonObject = isObject(answer) ? answer : {}
    if (!Array.isArray(tools)) return undefined
    entries.push(...(tools as unknown[]))
    if (typeof nextCursor !== 'string') return entries
    cursor = nextCursor
  }
  return undefined
}

// What a call does not need may be missing or wrong.
function readToolEntry(entry: unknown): Tool | string {
  if (!isObject(entry)) return 'it is no object'
  const { name, title, description, inputSchema = {}, outputSchema, annotations } = entry
  if (typeof name !== 'string' || name === '') return 'it has no name'
  if (
    !isObject(inputSchema) ||
    (inputSchema['type'] !== undefined && inputSchema['type'] !== 'object')
  )
    return 'its input schema describes no object'
  const { title: _title, ...hints } = asObject(annotations) ?? {}
  return compact({
    name,
    title: asText(title),
    description: asText(description),
    inputSchema: { ...inputSchema, type: 'object' },
    outputSchema: asObject(outputSchema),
    annotations: hints,
  })
}
