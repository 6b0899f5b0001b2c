import type { PromptView } from '../../contract/context.ts'
import type { ErrorObject, Outcome } from '../../contract/outcome.ts'
import { failedCall } from '../../contract/providers/tool-call.ts'
import type { State } from '../../contract/state.ts'
import { ToolError, toolErrorFrom } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { lookupKey } from '../../define/names.ts'
import { toToolError } from '../../call/failure.ts'
import { loadEngine } from '../../call/load-engine.ts'
import type { CallOptions } from '../../call/options.ts'
import type { RenderedPrompt, RenderedTool } from './prompt-type.ts'
import type { MountedTool } from './section-type.ts'

/** A tool as it is offered, and how it is called. */
export type OfferedTool = { readonly tool: RenderedTool; readonly start: MountedTool['start'] }

/** What a rendered prompt is made of. */
export type RenderedParts = {
  readonly name: string
  readonly text: string
  readonly summarised: readonly string[]
  readonly state: State | undefined
  readonly offered: readonly OfferedTool[]
  /** False where it cannot be done. */ open(wanted: readonly string[], state: State): boolean
}

type Ended = { readonly outcome: Outcome; readonly error?: ToolError }

/** The prompt as a model gets it, with the calls that belong to it. */
export function rendered({
  name,
  text,
  summarised,
  state,
  offered,
  open,
}: RenderedParts): RenderedPrompt {
  const tools = offered.map(({ tool }) => tool)
  const byName = new Map(offered.map((each) => [lookupKey(each.tool.name), each]))
  const view: PromptView = { name, text, tools: tools.map((tool) => tool.name) }
  const find = (wanted: unknown): OfferedTool | undefined =>
    typeof wanted === 'string' ? byName.get(lookupKey(wanted)) : undefined

  const start = async (
    wanted: string,
    input: unknown,
    options: CallOptions = {},
  ): Promise<Ended> => {
    const found = find(wanted)
    if (!found) return fail(wanted, unknownTool(String(wanted), view))
    const { tool, start: startMounted } = found
    try {
      const given: CallOptions = {
        ...(state && { state }),
        ...options,
        ...(tool.guards.length > 0 && { guards: [...(options.guards ?? []), ...tool.guards] }),
        prompt: view,
        invocation: { ...options.invocation, promptName: name },
      }
      if (startMounted) return await startMounted(input, given)
      return await (await loadEngine()).invoke(tool.definition, input, given, tool.identity)
    } catch (error) {
      return fail(wanted, toToolError(error))
    }
  }
  const provide = () => import('../../registry/provide.ts')
  const prompt: RenderedPrompt = {
    name,
    text,
    tools,
    summarised,
    find: (wanted) => find(wanted)?.tool,
    call: async (wanted, input, options) => (await start(wanted, input, options)).outcome,
    evaluate: async (wanted, input, options = {}) =>
      evaluated(await start(wanted, input, options), options),
    toOpenAI: (async (how = {}) =>
      (await provide()).toOpenAI(tools, how)) as RenderedPrompt['toOpenAI'],
    toAnthropic: async () => (await provide()).toAnthropic(tools),
    toGemini: async (how = {}) => (await provide()).toGemini(tools, how),
    toMcp: async () => (await provide()).toMcp(tools),
    handleToolCall: async (said, options) =>
      (await import('./answer.ts')).answer(
        prompt,
        said,
        options ?? {},
        (keys, given = state) => given !== undefined && open(keys, given),
      ),
  }
  return prompt
}

// The two errors that the evaluation of a prompt throws; its time, when that is over, is one of them.
function evaluated({ outcome, error }: Ended, options: CallOptions): Outcome {
  if (outcome.ok) return outcome
  const { code, message, details } = outcome.error
  const cause = error ?? toolErrorFrom(outcome.error)
  if (code === 'E_VISIBILITY_EXPANSION' || code === 'E_PROMPT_EVALUATION') throw cause
  if (code === 'TIMEOUT' && isOutOfTime(outcome.error, options))
    throw new ToolError(
      'E_PROMPT_EVALUATION',
      `the evaluation ended in tool '${outcome.meta.tool}': ${message}`,
      { cause, details: { ...details, code, tool: outcome.meta.tool } },
    )
  return outcome
}

// The time that the caller gave, and not one that a tool gave itself, or waited in vain for somebody else.
function isOutOfTime({ details }: ErrorObject, { budget, signal }: CallOptions): boolean {
  return (
    details?.['limited_by'] === 'caller' ||
    budget?.remaining('time') === 0 ||
    signal?.aborted === true
  )
}

function fail(name: unknown, error: ToolError): Ended {
  return { outcome: failedCall({ name: String(name).slice(0, 64) }, error.toObject()), error }
}

function unknownTool(wanted: string, { name, tools }: PromptView): ToolError {
  const { message, meant } = unknownName('tool', wanted, tools)
  return new ToolError(
    'NOT_FOUND',
    `${message.endsWith('?') ? message : `${message} in prompt '${name}'`}`,
    {
      details: { tools: tools.slice(0, 50) },
      suggestion: {
        action: 'use_different_tool',
        fix: meant
          ? `Call '${meant}'`
          : tools.length > 0
            ? `Call one of ${tools.slice(0, 20).join(', ')}`
            : 'This prompt has no tools',
      },
    },
  )
}
