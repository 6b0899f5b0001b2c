import type { ContentBlock } from '../../../contract/content.ts'
import { isObject } from '../../../contract/json.ts'
import type {
  FailureOutcome,
  Outcome,
  PartialOutcome,
  SuccessOutcome,
} from '../../../contract/outcome.ts'
import { isWrapped } from '../catalogue/tool-form.ts'
import type { Caller } from '../exchange.ts'
import type { ServedTool } from '../source.ts'
import { OWN_META } from '../wire/versions.ts'

/** The result of `tools/call`. */
export type ToolResult = {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: true
  readonly _meta: { readonly [key: string]: unknown }
}

/** Writes an outcome as the result of `tools/call`: text for models, structured content for programs, the rest of the envelope in `_meta`. */
export async function toolResult(
  outcome: Outcome,
  tool: ServedTool,
  era: Caller['era'],
  artifacts: readonly ContentBlock[],
): Promise<ToolResult> {
  if (!outcome.ok) return failed(outcome)
  const { result, content = [], ...rest } = outcome
  const structured = tool.hasOutput
    ? await declaredResult(result, tool, era)
    : freeResult(outcome, era)
  return {
    content: [
      ...(tool.facts.mcp?.text === false ? [] : readable(outcome)),
      ...content,
      ...artifacts,
      ...(outcome.status === 'partial' ? [failures(outcome)] : []),
    ],
    ...(structured !== undefined && { structuredContent: structured }),
    _meta: { [OWN_META.outcome]: rest },
  }
}

// A tool with an output schema gives structured content always: clients refuse a result without it.
async function declaredResult(
  result: unknown,
  tool: ServedTool,
  era: Caller['era'],
): Promise<unknown> {
  if (era === 'modern') return result
  const output = tool.written().output ?? (await tool.manifest()).outputSchema
  return output && isWrapped(output) ? { result } : result
}

function freeResult(
  { result, hidden }: SuccessOutcome | PartialOutcome,
  era: Caller['era'],
): unknown {
  if (hidden || result === null || typeof result === 'string') return undefined
  return era === 'modern' || isObject(result) ? result : undefined
}

function readable({
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

function failures({ errors, summary }: PartialOutcome): ContentBlock {
  return { type: 'text', text: JSON.stringify({ status: 'partial', errors, summary }) }
}

function failed(outcome: FailureOutcome): ToolResult {
  const { error, errors, summary } = outcome
  return {
    content: [
      {
        type: 'text',
        text: JSON.stringify({ error, ...(errors && { errors }), ...(summary && { summary }) }),
      },
    ],
    isError: true,
    _meta: { [OWN_META.outcome]: outcome },
  }
}
