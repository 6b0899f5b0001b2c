import type { Client, Tool } from '@modelcontextprotocol/client'
import type { Context } from '../../contract/context.ts'
import { LONGEST_TIMER_MS } from '../../contract/duration.ts'
import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Connection } from './connection.ts'
import { readToolResult } from './result.ts'
import { inRounds } from './rounds.ts'
import type { McpSettings } from './settings.ts'

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
const INVALID_PARAMS = -32602

/** Calls a tool of a server; throws ToolError. */
export async function callTool(
  tool: Tool,
  input: JsonObject,
  ctx: Context,
  connection: Connection,
  settings: McpSettings,
): Promise<unknown> {
  const { name } = tool
  // Results are checked here, where it can be said whose fault they are.
  const { outputSchema, ...toolDefinition } = tool
  const told = await connection.use(
    `the call of '${name}'`,
    ctx,
    async ({ client, isModern }, { signal, alive, asker, refusal }) => {
      const onprogress = ({
        progress,
        total,
        message,
      }: {
        readonly progress: number
        readonly total?: number | undefined
        readonly message?: string | undefined
      }): void => {
        alive()
        ctx.progress(
          message ?? (total === undefined ? String(progress) : `${progress} of ${total}`),
          total ? (progress / total) * 100 : undefined,
        )
      }
      const options = {
        signal,
        timeout: LONGEST_TIMER_MS,
        allowInputRequired: true,
        toolDefinition,
        onprogress,
      }
      const send = async (answers: object): Promise<JsonObject> => {
        const params = {
          name,
          arguments: input,
          ...answers,
          ...(isModern && { _meta: { [LOG_LEVEL]: 'info' } }),
        }
        return await client.callTool(params, options)
      }
      const result = await whileThere(name, client, connection, settings, () =>
        inRounds(asker, settings.roots, send),
      )
      try {
        return readToolResult(result, name, (text) => ctx.log(text, 'warn'))
      } catch (error) {
        throw refusal() ?? error
      }
    },
  )
  if (outputSchema !== undefined) await checkPromise(outputSchema, told.result, name, settings)
  return told
}

// Servers refuse a tool that is gone in as many words as a wrong input; only their list tells which it was.
async function whileThere(
  tool: string,
  client: Client,
  connection: Connection,
  settings: McpSettings,
  call: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const look = async (): Promise<void> => {
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
      await look()
    return result
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === INVALID_PARAMS) await look()
    throw error
  }
}

async function checkPromise(
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
