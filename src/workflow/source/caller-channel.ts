import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { AnswerChannel } from '../../runner/interactions/broker.ts'
import type { Question } from '../../runner/interactions/read-question.ts'

const KEY = /^[A-Za-z0-9_.-]{1,64}$/

/** Whoever called the workflow answers its questions: a person at a terminal, the client of a server, the model of an agent. */
export function callerChannel({ ask, sample }: Pick<Context, 'ask' | 'sample'>): AnswerChannel {
  return {
    name: 'the caller',
    async answer(question, _signal, problem) {
      try {
        return { value: await put(question, problem, { ask, sample }) }
      } catch (error) {
        if (ToolError.is(error) && error.code === 'ANSWER_REQUIRED') return undefined
        throw error
      }
    },
  }
}

function put(
  { kind, prompt, options = [], schema, default: preset, sampling, key }: Question,
  problem: string | undefined,
  { ask, sample }: Pick<Context, 'ask' | 'sample'>,
): Promise<unknown> {
  const named = key !== undefined && KEY.test(key) ? { key } : {}
  const common = {
    prompt: problem === undefined ? prompt : `${prompt} (the answer ${problem})`,
    ...named,
  }
  const otherwise = preset === undefined ? {} : { default: preset }
  if (kind === 'sample')
    return sample(prompt, {
      ...named,
      ...(sampling?.max_tokens !== undefined && { maxTokens: sampling.max_tokens }),
      ...(sampling?.system !== undefined && { system: sampling.system }),
      ...(sampling?.temperature !== undefined && { temperature: sampling.temperature }),
      ...(sampling?.stop_sequences && { stopSequences: sampling.stop_sequences }),
    })
  if (kind === 'confirm') return ask({ kind, ...common, ...(otherwise as { default?: boolean }) })
  if (kind === 'decision')
    return ask({ kind, options, ...common, ...(otherwise as { default?: string }) })
  return ask({ kind, ...(schema && { schema }), ...common, ...otherwise })
}
