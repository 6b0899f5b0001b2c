/**
 * Answers the tool calls that a model makes to a rendered prompt, in the format of any provider.
 */

import type { CallOptions } from '../core/call.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { ToolMessage } from '../protocol/providers/tool-messages.ts'
import type { State } from '../protocol/state.ts'
import { indexByExportName } from '../registry/names.ts'
import { answerToolCall } from '../registry/tool-calls.ts'
import { compact } from '../util/values.ts'
import type { RenderedPrompt } from './section-tree.ts'

/**
 * Runs what a model asked for and gives the messages that answer it; `open` opens what it asked to
 * see, where there is a state. Never throws.
 */
export async function handleToolCall(
  prompt: RenderedPrompt,
  said: unknown,
  options: CallOptions,
  open: (keys: readonly string[], state?: State) => boolean,
): Promise<ToolMessage | readonly ToolMessage[]> {
  const byName = indexByExportName(prompt.tools)
  return answerToolCall(said, {
    names: () => [...byName.keys()],
    find(name) {
      const tool = byName.get(name) ?? prompt.find(name)
      return (
        tool && {
          inputSchema: async () => (await tool.definition.compiled()).manifest.inputSchema,
          async call(input, { id }) {
            const outcome = await prompt.call(tool.name, input, {
              ...options,
              invocation: { ...options.invocation, ...compact({ callId: id }) },
            })
            return openRequestedSections(outcome, (keys) => open(keys, options.state))
          },
        }
      )
    },
  })
}

// Whoever answers by messages renders anew for each turn: what was opened is in the next prompt.
function openRequestedSections(
  outcome: Outcome,
  open: (keys: readonly string[]) => unknown,
): Outcome {
  const keys =
    outcome.ok || outcome.error.code !== 'E_VISIBILITY_EXPANSION'
      ? undefined
      : outcome.error.details?.['keys']
  if (!Array.isArray(keys) || !open(keys as readonly string[])) return outcome
  return {
    ok: true,
    status: 'success',
    result: { opened: keys },
    message: `Opened: ${keys.join(', ')}. Text and tools are in the prompt from the next turn on.`,
    meta: outcome.meta,
  }
}
