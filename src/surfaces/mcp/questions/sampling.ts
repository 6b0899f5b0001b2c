import type { SampleRequest } from '../../../contract/interaction.ts'
import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import type { Question } from './question.ts'

/** A prompt of a tool for the client's model. */
export function sampling({
  key,
  prompt,
  max_tokens,
  system,
  temperature,
  stop_sequences,
}: SampleRequest): Question {
  return {
    capability: 'sampling',
    key,
    method: 'sampling/createMessage',
    params: {
      messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
      maxTokens: max_tokens,
      ...(system !== undefined && { systemPrompt: system }),
      ...(temperature !== undefined && { temperature }),
      ...(stop_sequences !== undefined && { stopSequences: stop_sequences }),
    },
    read(answer) {
      const content = isObject(answer) ? answer['content'] : undefined
      const text = (Array.isArray(content) ? content : [content]).flatMap((block: unknown) =>
        isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string'
          ? [block['text']]
          : [],
      )
      if (text.length === 0)
        throw new ToolError('DEPENDENCY', "the completion of the client's model has no text")
      return text.join('')
    },
  }
}
