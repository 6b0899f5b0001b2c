import type { Tool } from '@modelcontextprotocol/client'
import type { Context } from '../../contract/context.ts'
import { LONGEST_TIMER_MS } from '../../contract/duration.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { Annotations } from '../../contract/manifest.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { defineForeign } from '../foreign/define-foreign.ts'
import { summaryOf } from '../foreign/summary.ts'
import type { ForeignFacts, FoundTool } from '../found.ts'
import type { Connection } from './connection.ts'
import { readToolResult } from './result.ts'
import { inRounds } from './rounds.ts'
import type { McpSettings } from './settings.ts'

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'

/** A tool of a server as the registry knows it. */
export function foundTool(tool: Tool, version: string | undefined, connection: Connection, settings: McpSettings): FoundTool {
  const facts = factsOf(tool, settings)
  return {
    source: settings.name,
    ...(version !== undefined && { version }),
    name: tool.name,
    tier: 'server',
    kind: 'mcp server',
    location: settings.location,
    summary: summaryOf(tool.name, facts),
    tags: [],
    define: (name) => defineForeign(name, facts, (input, ctx) => callTool(tool, input, ctx, connection, settings)),
  }
}

function factsOf({ title, description, inputSchema, outputSchema, annotations }: Tool, { callTimeout }: McpSettings): ForeignFacts {
  const shown = title ?? annotations?.title
  return {
    ...(shown !== undefined && shown.trim() !== '' && { title: shown }),
    ...(description !== undefined && { description }),
    inputSchema: inputSchema,
    ...(outputSchema !== undefined && { outputSchema: outputSchema }),
    annotations: readHints(annotations),
    ...(callTimeout !== undefined && { timeout: callTimeout }),
  }
}

function readHints({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: NonNullable<Tool['annotations']> = {}): Annotations {
  return {
    ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
    // What only reads destroys nothing, whatever else is said.
    ...(destructiveHint !== undefined && { destructive: destructiveHint && readOnlyHint !== true }),
    ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
    ...(openWorldHint !== undefined && { openWorld: openWorldHint }),
  }
}

async function callTool(tool: Tool, input: JsonObject, ctx: Context, connection: Connection, settings: McpSettings): Promise<unknown> {
  const { name } = tool
  const { outputSchema, ...unchecked } = tool
  const told = await connection.use(`the call of '${name}'`, ctx, async ({ client, isModern }, { signal, alive, asker, refusal }) => {
    const result = await inRounds(asker, settings.roots, async (answers) => {
      const params = { name, arguments: input, ...answers, ...(isModern && { _meta: { [LOG_LEVEL]: 'info' } }) }
      return (await client.callTool(params, {
        signal,
        timeout: LONGEST_TIMER_MS,
        allowInputRequired: true,
        toolDefinition: unchecked,
        onprogress: ({ progress, total, message }) => {
          alive()
          ctx.progress(message ?? (total === undefined ? String(progress) : `${progress} of ${total}`), total ? (progress / total) * 100 : undefined)
        },
      }))
    })
    try {
      return readToolResult(result, name, (text) => ctx.log(text, 'warn'))
    } catch (error) {
      throw refusal() ?? error
    }
  })
  if (outputSchema !== undefined) await checkPromise(outputSchema, told.result, name, settings)
  return told
}

// The pipeline would say the same about the tool; who is at fault is the server.
async function checkPromise(schema: JsonSchema, result: unknown, tool: string, { name }: McpSettings): Promise<void> {
  const [{ compileSchema }, { describeIssues }] = await Promise.all([import('../../define/schema/compile.ts'), import('../../define/schema/issues.ts')])
  const checked = await compileSchema(schema, 'output').check(result)
  if (checked.ok) return
  throw new ToolError('DEPENDENCY', `MCP server '${name}' answered '${tool}' with something else than its own output schema promises: the result ${describeIssues(checked.issues)}`, { retryable: false, suggestion: { action: 'use_different_tool', fix: `The author of '${name}' should mend the result or the schema` } })
}
