import type { ContentBlock } from '../../../contract/content.ts'
import { toMilliseconds } from '../../../contract/duration.ts'
import { isObject } from '../../../contract/json.ts'
import type { Outcome } from '../../../contract/outcome.ts'
import { unknownName } from '../../../contract/unknown-name.ts'
import { page } from '../catalogue/pages.ts'
import { canUseTasks, missingCapability } from '../exchange.ts'
import type { Exchange } from '../exchange.ts'
import { toolResult } from '../results/tool-result.ts'
import type { McpServer } from '../server-type.ts'
import type { ServedTool } from '../source.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import { TASKS_EXTENSION } from '../wire/versions.ts'
import { failureToRpc } from './failures.ts'
import { follow } from './follow.ts'
import { cacheable, textParam } from './method.ts'
import type { Method } from './method.ts'

const INLINE_MS = 2000

export const listTools: Method = async (server, params, exchange) => {
  const { items, nextCursor } = page(
    await server.catalogue.list(exchange.caller.era),
    ({ name }) => name,
    params,
    server.options.pageSize,
  )
  return cacheable({ tools: items, ...(nextCursor !== undefined && { nextCursor }) }, exchange)
}

/** Calls a tool, or goes on with a call that waits for the answers which this request brings. */
export const callTool: Method = (server, params, exchange) => {
  const { source } = server
  const name = textParam(params, 'name')
  const tool = source.find(name)
  if (!tool) throw unknownTool(name, server)
  const input = params['arguments'] ?? {}
  if (!isObject(input)) throw new RpcError(RPC.invalidParams, 'params.arguments is not an object')
  const meant = source.aim(tool, input)
  return follow(
    server,
    {
      method: 'tools/call',
      params,
      what: meant.name,
      grace: graceOf(meant, exchange),
      async work(options, call) {
        const outcome = await source.call(tool.name, input, options)
        return (
          failureToRpc(outcome, call) ?? {
            result: await toolResult(
              outcome,
              tool,
              call.caller.era,
              await artifactsOf(server, outcome),
            ),
          }
        )
      },
    },
    exchange,
  )
}

// Undefined: the client waits until the end. A number: after so many milliseconds it gets a task instead.
function graceOf({ facts: { mcp } }: ServedTool, { caller }: Exchange): number | undefined {
  const policy = mcp?.task ?? 'auto'
  if (policy === 'never') return undefined
  if (!canUseTasks(caller)) {
    if (policy === 'required' && caller.era === 'modern')
      throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } })
    return undefined
  }
  if (policy === 'required' || mcp?.taskAfter === 0) return 0
  return mcp?.taskAfter === undefined ? INLINE_MS : toMilliseconds(mcp.taskAfter)
}

async function artifactsOf(
  server: McpServer,
  { meta: { artifacts } }: Outcome,
): Promise<readonly ContentBlock[]> {
  if (!artifacts) return []
  for (const { uri } of artifacts) server.artifacts.add(uri)
  return (await import('../results/artifacts.ts')).artifactBlocks(artifacts)
}

function unknownTool(name: string, { source }: McpServer): RpcError {
  const names = source.tools().map((tool) => tool.name)
  return new RpcError(RPC.invalidParams, unknownName('tool', name, names).message, {
    tools: names.slice(0, 50),
  })
}
