/**
 * `tools/list` and `tools/call`.
 */

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
import {
  addCacheHints,
  followRequest,
  paginate,
  requireTextParam,
  toProtocolFailure,
} from './method.ts'
import type { McpMethod } from './method.ts'
import {
  missingCapabilityError,
  RPC_CODES,
  RpcError,
  supportsTasks,
  TASKS_EXTENSION,
  TOOLABLE_META_KEYS,
} from './protocol.ts'
import type { McpClient, McpExchange } from './protocol.ts'
import type { McpServer } from './server-types.ts'
import { isWrappedOutput } from './source.ts'
import type { ServedTool } from './source.ts'

const INLINE_WAIT_MS = 2000

export const listTools: McpMethod = async (server, params, exchange) => {
  const { items, nextCursor } = paginate(
    await server.catalogue.list(exchange.caller.era),
    ({ name }) => name,
    params,
    server.options.pageSize,
  )
  return addCacheHints(compact({ tools: items, nextCursor }), exchange)
}

/** Calls a tool, or goes on with a call that waits for the answers which this request brings. */
export const callTool: McpMethod = (server, params, exchange) => {
  const { source } = server
  const name = requireTextParam(params, 'name')
  const tool = source.find(name)
  if (!tool) throw unknownToolError(name, server)
  const input = params['arguments'] ?? {}
  if (!isObject(input))
    throw new RpcError(RPC_CODES.invalidParams, 'params.arguments is not an object')
  const meant = source.resolveTarget(tool, input)
  return followRequest(
    server,
    {
      method: 'tools/call',
      params,
      what: meant.name,
      grace: getInlineWaitMs(meant, exchange),
      async work(options, call) {
        const outcome = await source.call(tool.name, input, options)
        return (
          toProtocolFailure(outcome, call) ?? {
            result: await toToolResult(
              outcome,
              tool,
              call.caller.era,
              await loadArtifactBlocks(server, outcome),
            ),
          }
        )
      },
    },
    exchange,
  )
}

// Undefined: the client waits until the end. A number: after so many milliseconds it gets a task
// instead.
function getInlineWaitMs(
  { facts: { mcp } }: ServedTool,
  { caller }: McpExchange,
): number | undefined {
  const policy = mcp?.task ?? 'auto'
  if (policy === 'never') return undefined
  if (!supportsTasks(caller)) {
    if (policy === 'required' && caller.era === 'modern')
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
  readonly structuredContent?: unknown
  readonly isError?: true
  readonly _meta: { readonly [key: string]: unknown }
}

/**
 * Writes an outcome as the result of `tools/call`: text for models, structured content for
 * programs, the rest of the envelope in `_meta`.
 */
async function toToolResult(
  outcome: Outcome,
  tool: ServedTool,
  era: McpClient['era'],
  artifacts: readonly ContentBlock[],
): Promise<McpToolResult> {
  if (!outcome.ok) return toErrorResult(outcome)
  const { result, content = [], ...rest } = outcome
  const structured = tool.hasOutput
    ? await toDeclaredResult(result, tool, era)
    : toUndeclaredResult(outcome, era)
  return compact({
    content: [
      ...(tool.facts.mcp?.text === false ? [] : toTextBlocks(outcome)),
      ...content,
      ...artifacts,
      ...(outcome.status === 'partial' ? [toFailuresBlock(outcome)] : []),
    ],
    structuredContent: structured,
    _meta: { [TOOLABLE_META_KEYS.outcome]: rest },
  })
}

// A tool with an output schema gives structured content always: clients refuse a result without it.
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
  const said = blocks.length > 0 || content !== undefined
  if (hidden || (result === null && said)) return blocks
  return [
    ...blocks,
    { type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) },
  ]
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
