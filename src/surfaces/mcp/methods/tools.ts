import { closest } from '../../../contract/did-you-mean.ts'
import { toMilliseconds } from '../../../contract/duration.ts'
import { isObject } from '../../../contract/json.ts'
import type { Outcome } from '../../../contract/outcome.ts'
import { shorten } from '../../../contract/shorten.ts'
import { LiveCall } from '../calls/live-call.ts'
import type { Settled } from '../calls/live-call.ts'
import { page } from '../catalogue/pages.ts'
import { canUseTasks, missingCapability } from '../exchange.ts'
import type { Exchange } from '../exchange.ts'
import { toolResult } from '../results/tool-result.ts'
import type { McpServer } from '../server-type.ts'
import type { ServedTool } from '../source.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import { TASKS_EXTENSION } from '../wire/versions.ts'
import { callOptions } from './call-options.ts'
import { failureToRpc } from './failures.ts'
import { follow, resume } from './follow.ts'
import { cacheable, textParam } from './method.ts'
import type { Method } from './method.ts'

const INLINE_MS = 2000
const MOST_ARTIFACTS = 1000

export const listTools: Method = async (server, params, exchange) => {
  const { items, nextCursor } = page(await server.catalogue.list(exchange.caller.era), ({ name }) => name, params, server.options.pageSize)
  return cacheable({ tools: items, ...(nextCursor !== undefined && { nextCursor }) }, exchange)
}

/** Calls a tool, or goes on with a call that waits for the answers which this request brings. */
export const callTool: Method = async (server, params, exchange) => {
  const name = textParam(params, 'name')
  const tool = server.source.find(name)
  if (!tool) throw unknownTool(name, server)
  const input = params['arguments'] ?? {}
  if (!isObject(input)) throw new RpcError(RPC.invalidParams, 'params.arguments is not an object')
  const grace = graceOf(tool, exchange)
  const subject = { method: 'tools/call', params }
  if (params['requestState'] !== undefined && exchange.caller.era === 'modern') return follow(server, await resume(server, subject, exchange), subject, grace)
  return follow(server, begin(server, tool, input, params, exchange), subject, grace)
}

function begin(server: McpServer, tool: ServedTool, input: object, params: Params, exchange: Exchange): LiveCall {
  const early = params['inputResponses']
  const call = new LiveCall(exchange, exchange.caller, isObject(early) ? early : undefined, async (live): Promise<Settled> => {
    server.calls.begin(live)
    const { options, stop } = callOptions(server, live, params, tool.name)
    try {
      const outcome = await server.source.call(tool.name, input, options)
      stop()
      return failureToRpc(outcome, live) ?? { result: await toolResult(outcome, tool, live.caller.era, await artifactsOf(server, outcome)) }
    } catch (error) {
      return { error: { code: RPC.internal, message: String(error) } }
    } finally {
      stop()
      server.calls.end(live)
    }
  })
  return call
}

// Undefined: the client waits until the end. A number: after so many milliseconds it gets a task instead.
function graceOf({ facts: { mcp } }: ServedTool, { caller }: Exchange): number | undefined {
  const policy = mcp?.task ?? 'auto'
  if (policy === 'never') return undefined
  if (!canUseTasks(caller)) {
    if (policy === 'required' && caller.era === 'modern') throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } })
    return undefined
  }
  if (policy === 'required' || mcp?.taskAfter === 0) return 0
  return mcp?.taskAfter === undefined ? INLINE_MS : toMilliseconds(mcp.taskAfter)
}

async function artifactsOf(server: McpServer, { meta: { artifacts } }: Outcome): Promise<Awaited<ReturnType<typeof import('../results/artifacts.ts')['artifactBlocks']>>> {
  if (!artifacts) return []
  for (const { uri } of artifacts) server.artifacts.set(uri, Date.now())
  while (server.artifacts.size > MOST_ARTIFACTS) server.artifacts.delete(server.artifacts.keys().next().value!)
  return (await import('../results/artifacts.ts')).artifactBlocks(artifacts)
}

function unknownTool(name: string, { source }: McpServer): RpcError {
  const names = source.tools().map((tool) => tool.name)
  const meant = closest(name, names)
  return new RpcError(RPC.invalidParams, `there is no tool '${shorten(name, 100)}'${meant ? `; did you mean '${meant}'?` : ''}`, { tools: names.slice(0, 50) })
}
