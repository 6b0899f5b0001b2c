import type {
  Ask,
  ConfirmQuestion,
  DecisionQuestion,
  InputQuestion,
  SampleOptions,
} from '../contract/context.ts'
import { toMilliseconds } from '../contract/duration.ts'
import type { Interaction, SampleRequest } from '../contract/interaction.ts'
import { ToolError } from '../contract/tool-error.ts'
import { resolveSchema } from '../define/schema/source.ts'
import type { LazySchema, Schema } from '../define/schema/schema.ts'
import type { AskHost } from './ask-host.ts'
import { checkAnswer } from './check-answer.ts'
import { checkDefault } from './check-default.ts'
import { asHost } from './exit-guard.ts'
import { randomId } from './ids.ts'
import { onAbort } from './on-abort.ts'
import { checkKey } from './question-key.ts'
import { untilAborted } from './running.ts'

const LONGEST_ANSWER_LOOP = 5
const SAMPLE_TIMEOUT_S = 120

/** Builds `ctx.ask`: asks until the answer fits; without anybody to answer, the default, else ANSWER_REQUIRED. */
export function createAsk(host: AskHost): Ask {
  const ask = async (
    question: ConfirmQuestion | DecisionQuestion | InputQuestion,
  ): Promise<unknown> => {
    const { schema, interaction } = await host.inOrder(() => prepare(question))
    return host.wait(async () => {
      let problem: string | undefined
      for (let attempt = 0; attempt < LONGEST_ANSWER_LOOP; attempt++) {
        const given = await askOnce(
          host,
          problem === undefined ? interaction : { ...interaction, problem },
        )
        if (given === undefined) return answerByDefault(host, interaction)
        const checked = await checkAnswer(interaction, schema, given)
        if (checked.ok) return checked.value
        problem = checked.problem
      }
      throw new ToolError('INVALID_INPUT', `the answer to '${interaction.prompt}' ${problem}`, {
        field: 'answer',
      })
    })
  }
  return ask as Ask
}

/** Builds `ctx.sample`. */
export function createSample(
  host: AskHost,
): (prompt: string, options?: SampleOptions) => Promise<string> {
  return async (prompt, options = {}) => {
    const request = await host.inOrder(() => toRequest(prompt, options))
    if (!host.sample)
      throw new ToolError(
        'ANSWER_REQUIRED',
        `${host.asker} asks for a completion and no model is connected`,
        {
          details: { interaction: { kind: 'sample' } },
          suggestion:
            'Give the call a sampler: --sample-via stdin or --sample-via <url> on the command line, the option sample in a program',
        },
      )
    const sampler = host.sample
    return host.wait(async () => {
      const limit = limitedSignal(
        host.signal(),
        toMilliseconds(options.timeout ?? SAMPLE_TIMEOUT_S, 'timeout'),
      )
      try {
        const content: unknown = await untilAborted(limit.signal, () =>
          asHost(() => sampler(request, limit.signal)),
        )
        if (typeof content !== 'string')
          throw new ToolError('DEPENDENCY', 'the completion that came back is not text')
        return content
      } finally {
        limit.clear()
      }
    })
  }
}

async function prepare(
  question: ConfirmQuestion | DecisionQuestion | InputQuestion,
): Promise<{ readonly schema: Schema | undefined; readonly interaction: Interaction }> {
  const schema =
    question.kind === 'input' && question.schema !== undefined
      ? (await import('../define/schema/compile.ts')).compileSchema(
          resolveSchema(question.schema as LazySchema),
          'output',
        )
      : undefined
  const interaction = toInteraction(question, schema)
  await checkDefault(interaction)
  return { schema, interaction }
}

function toRequest(
  prompt: string,
  { maxTokens = 1000, system, temperature, stopSequences, key }: SampleOptions,
): SampleRequest {
  return {
    id: randomId(),
    prompt,
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stop_sequences: stopSequences }),
    ...checkKey(key),
  }
}

function toInteraction(
  question: ConfirmQuestion | DecisionQuestion | InputQuestion,
  schema: Schema | undefined,
): Interaction {
  const { prompt, timeout } = question
  return {
    id: randomId(),
    kind: question.kind,
    prompt,
    ...(schema && { schema: schema.json }),
    ...(question.kind === 'decision' && {
      options: question.options.map((option) =>
        typeof option === 'string' ? { value: option } : option,
      ),
    }),
    ...(question.default !== undefined && { default: question.default }),
    ...(timeout !== undefined && { timeout }),
    ...checkKey(question.key),
  }
}

async function askOnce(host: AskHost, interaction: Interaction): Promise<unknown> {
  if (!host.answer) return undefined
  const answerer = host.answer
  if (interaction.timeout === undefined) return asHost(() => answerer(interaction, host.signal()))
  const limit = limitedSignal(host.signal(), toMilliseconds(interaction.timeout, 'timeout'))
  try {
    return await untilAborted(limit.signal, () => asHost(() => answerer(interaction, limit.signal)))
  } catch (error) {
    // An answer that does not come in time counts as nobody being there.
    if (limit.timedOut()) return undefined
    throw error
  } finally {
    limit.clear()
  }
}

function answerByDefault(host: AskHost, interaction: Interaction): unknown {
  if (interaction.default !== undefined) return interaction.default
  throw new ToolError(
    'ANSWER_REQUIRED',
    `${host.asker} asks '${interaction.prompt}' and nobody can answer`,
    { details: { interaction } },
  )
}

type Limit = { readonly signal: AbortSignal; timedOut(): boolean; clear(): void }

function limitedSignal(outer: AbortSignal, milliseconds: number): Limit {
  const controller = new AbortController()
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    controller.abort(new ToolError('TIMEOUT', `no answer within ${milliseconds / 1000} seconds`))
  }, milliseconds)
  const stopListening = onAbort(outer, () => controller.abort(outer.reason))
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    clear() {
      clearTimeout(timer)
      stopListening()
    },
  }
}
