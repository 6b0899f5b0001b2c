/**
 * `tools/list` and `tools/call`.
 */

import type { ServerCallOptions } from '../core/call.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type {
  ContentBlock,
  FailureOutcome,
  Outcome,
  PartialOutcome,
  SuccessOutcome,
} from '../protocol/outcome.ts'
import { describeUnknownName } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpCall } from './call.ts'
import type { McpMethod } from './method.ts'
import { followRequest, requireTextParam, toListResult, toProtocolFailure } from './method.ts'
import type { McpClient, McpExchange } from './protocol.ts'
import {
  missingCapabilityError,
  RPC_CODES,
  RpcError,
  TASKS_EXTENSION,
  TOOLABLE_META_KEYS,
} from './protocol.ts'
import type { McpServer } from './server-types.ts'
import type { ServedTool } from './source.ts'
import { isWrappedOutput } from './source.ts'

const INLINE_WAIT_MS = 2000

export const listTools: McpMethod = async (server, params, exchange) => {
  const tools = await server.catalogue.list(exchange.client.era)
  return toListResult('tools', tools, 'name', { server, params, exchange })
}

/** Calls a tool, or resumes a call that waits for the answers which this request brings. */
export const callTool: McpMethod = (server, params, exchange) => {
  const { source } = server
  const name = requireTextParam(params, 'name')
  const tool = source.find(name)
  if (!tool) throw unknownToolError(name, server)
  const input = params['arguments'] ?? {}
  if (!isObject(input))
    throw new RpcError(RPC_CODES.invalidParams, 'params.arguments is not an object')
  const target = source.resolveTarget(tool, input)
  const request = {
    method: 'tools/call',
    params,
    what: target.name,
    taskAfterMs: getTaskDelay(target, exchange),
    async work(options: ServerCallOptions, call: McpCall) {
      const outcome = await source.call(tool.name, input, options)
      if (!outcome.ok) server.options.onFailure?.(outcome)
      const error = toProtocolFailure(outcome, call)
      if (error) return { error }
      const artifacts = outcome.meta.artifacts && (await loadArtifactBlocks(server, outcome))
      return { result: await toToolResult(outcome, tool, call.client.era, artifacts) }
    },
  }
  return followRequest(server, request, exchange)
}

// Undefined: the client waits until the end.
function getTaskDelay({ facts: { mcp } }: ServedTool, { client }: McpExchange): number | undefined {
  const policy = mcp?.task ?? 'auto'
  if (policy === 'never') return undefined
  if (!client.supports.tasks) {
    if (policy === 'required' && client.era === 'modern')
      throw missingCapabilityError({ extensions: { [TASKS_EXTENSION]: {} } })
    return undefined
  }
  if (policy === 'required' || mcp?.taskAfter === 0) return 0
  return mcp?.taskAfter === undefined ? INLINE_WAIT_MS : toMilliseconds(mcp.taskAfter)
}

async function loadArtifactBlocks(
  server: McpServer,
  { meta: { artifacts } }: Outcome,
): Promise<readonly ContentBlock[]> {
  if (!artifacts) return []
  for (const { uri } of artifacts) server.artifacts.add(uri)
  return (await import('./artifacts.ts')).toArtifactBlocks(artifacts)
}

function unknownToolError(name: string, { source }: McpServer): RpcError {
  const names = source.tools().map((tool) => tool.name)
  return new RpcError(RPC_CODES.invalidParams, describeUnknownName('tool', name, names).message, {
    tools: names.slice(0, 50),
  })
}

/** The result of `tools/call`. */
type McpToolResult = {
  readonly content: readonly ContentBlock[]
  structuredContent?: unknown
  readonly isError?: true
  _meta?: { readonly [key: string]: unknown }
}

/**
 * Writes an outcome as the result of `tools/call`: text for models, structured content for
 * programs, the rest of the envelope in `_meta`.
 */
async function toToolResult(
  outcome: Outcome,
  tool: ServedTool,
  era: McpClient['era'],
  artifacts: readonly ContentBlock[] = [],
): Promise<McpToolResult> {
  if (!outcome.ok) return toErrorResult(outcome)
  const { result, content = [], ...rest } = outcome
  const structured = tool.hasOutput
    ? await toDeclaredResult(result, tool, era)
    : toUndeclaredResult(outcome, era)
  const written: McpToolResult = {
    content: [
      ...(tool.facts.mcp?.text === false ? [] : toTextBlocks(outcome)),
      ...content,
      ...artifacts,
      ...(outcome.status === 'partial' ? [toFailuresBlock(outcome)] : []),
    ],
  }
  if (structured !== undefined) written.structuredContent = structured
  written._meta = { [TOOLABLE_META_KEYS.outcome]: rest }
  return written
}

// Clients refuse a result without structured content when the tool has an output schema.
async function toDeclaredResult(
  result: unknown,
  tool: ServedTool,
  era: McpClient['era'],
): Promise<unknown> {
  if (era === 'modern') return result
  const output = tool.written().output ?? (await tool.manifest()).outputSchema
  return output && isWrappedOutput(output) ? { result } : result
}

function toUndeclaredResult(
  { result, hidden }: SuccessOutcome | PartialOutcome,
  era: McpClient['era'],
): unknown {
  if (hidden || result === null || typeof result === 'string') return undefined
  return era === 'modern' || isObject(result) ? result : undefined
}

function toTextBlocks({
  result,
  message,
  hidden,
  content,
}: SuccessOutcome | PartialOutcome): ContentBlock[] {
  const blocks: ContentBlock[] = message === undefined ? [] : [{ type: 'text', text: message }]
  const isSaid = result === null && (message !== undefined || content !== undefined)
  if (!hidden && !isSaid)
    blocks.push({
      type: 'text',
      text: typeof result === 'string' ? result : JSON.stringify(result),
    })
  return blocks
}

function toFailuresBlock({ errors, summary }: PartialOutcome): ContentBlock {
  return { type: 'text', text: JSON.stringify({ status: 'partial', errors, summary }) }
}

function toErrorResult(outcome: FailureOutcome): McpToolResult {
  const { error, errors, summary } = outcome
  return {
    content: [{ type: 'text', text: JSON.stringify(compact({ error, errors, summary })) }],
    isError: true,
    _meta: { [TOOLABLE_META_KEYS.outcome]: outcome },
  }
}
