import type { TokenUsage } from '../../contract/budget.ts'
import type { Interaction, Sampler } from '../../contract/interaction.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Approve } from './agent-type.ts'
import type { AgentMessage } from './model-type.ts'
import { costOf, readReply } from './take-turn.ts'
import type { Work } from './work.ts'

type CallOf = { readonly turn: number; readonly id: string; readonly name: string }
type Calling = {
  readonly work: Work
  readonly of: CallOf
  readonly input: unknown
  readonly usage: TokenUsage
  readonly promptName: string | undefined
}

/** How a tool is called for a model: what the run shares, who consents, and who hears of it. */
export function optionsFor({ work, of, input, usage, promptName }: Calling): CallOptions {
  const {
    options: { model, guards, answer, call = {} },
    parts: { state, budget },
    signal,
  } = work
  return {
    sample: sampleWith(work),
    ...call,
    signal,
    ...(state && { state }),
    ...(budget && { budget }),
    ...(guards && { guards }),
    ...(answer && { answer }),
    confirm: consentTo(work, of, input),
    invocation: {
      ...call.invocation,
      callId: of.id,
      adapter: model.name,
      usage,
      ...(promptName !== undefined && { promptName }),
    },
    onEvent: async (event) => {
      if (event.type !== 'tool_invoked') work.tell({ type: 'tool_progress', ...of, event })
      await call.onEvent?.(event)
    },
  }
}

function consentTo(work: Work, of: CallOf, input: unknown): NonNullable<CallOptions['confirm']> {
  const { approve, answer } = work.options
  if (typeof approve === 'boolean') return approve
  const ask: Approve | undefined =
    approve ??
    (answer &&
      (async ({ question, signal }) => {
        const given: unknown = await answer(question, signal)
        return typeof given === 'boolean' ? given : undefined
      }))
  if (!ask) return false
  return (question: Interaction) =>
    work.inTurn(async () => {
      work.tell({ type: 'approval', ...of, prompt: question.prompt })
      const approved = await ask({ tool: of.name, input, question, signal: work.signal })
      work.tell({ type: 'approval', ...of, prompt: question.prompt, approved: approved ?? null })
      return approved
    })
}

// A tool that needs a model gets that of the agent.
function sampleWith(work: Work): Sampler {
  return async ({ prompt, system, max_tokens, temperature, stop_sequences }, signal) => {
    const messages: readonly AgentMessage[] = [
      ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
      { role: 'user', text: prompt },
    ]
    const { model } = work.options
    const reply = readReply(
      await model.generate(
        {
          messages,
          tools: [],
          maxOutputTokens: max_tokens,
          ...(temperature !== undefined && { temperature }),
          ...(stop_sequences && { stopSequences: stop_sequences }),
        },
        { signal },
      ),
      model.name,
    )
    const { usage, estimated } = costOf(reply, messages)
    work.spend(usage, estimated)
    return reply.text
  }
}
