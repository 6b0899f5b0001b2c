import type { ToolMessage } from '../../contract/providers/render-message.ts'
import type { CallOptions } from '../../call/options.ts'
import { answerToolCall } from '../../registry/answer-tool-call.ts'
import { providerNames } from '../../registry/names.ts'
import type { RenderedPrompt } from './prompt-type.ts'

/** Runs what a model asked for and gives the messages that answer it. Never throws. */
export async function answer(prompt: RenderedPrompt, said: unknown, options: CallOptions = {}): Promise<ToolMessage | readonly ToolMessage[]> {
  const byName = providerNames(prompt.tools)
  return answerToolCall(said, {
    names: () => [...byName.keys()],
    find(name) {
      const tool = byName.get(name) ?? prompt.find(name)
      return tool && {
        inputSchema: async () => (await tool.definition.compiled()).manifest.inputSchema,
        call: (input, { id }) => prompt.call(tool.name, input, { ...options, invocation: { ...options.invocation, ...(id !== undefined && { callId: id }) } }),
      }
    },
  })
}
