import { toToolError } from '../../call/failure.ts'
import type { DecisionQuestion } from '../../contract/context.ts'
import type { Interaction } from '../../contract/interaction.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ServeAnswer } from '../../contract/serve-protocol.ts'
import { readSampling } from '../read-sampling.ts'
import type { WarmContext } from './warm-type.ts'

/** Asks whoever made the call what the program asks, and gives the line that answers. Never throws. */
export async function answerQuestion(given: JsonObject, ctx: WarmContext): Promise<ServeAnswer> {
  const question = given['id'] as string
  try {
    return { question, value: await ask(given as unknown as Interaction, ctx) }
  } catch (thrown) {
    const error = toToolError(thrown)
    return error.code === 'ANSWER_REQUIRED'
      ? { question, nobody: true }
      : { question, error: error.toObject() }
  }
}

function ask(
  { kind, prompt: words, options, schema, default: standard, timeout, key, sampling }: Interaction,
  ctx: WarmContext,
): Promise<unknown> {
  const prompt = String(words)
  const common = {
    prompt,
    ...(timeout !== undefined && { timeout }),
    ...(key !== undefined && { key }),
  }
  // With nobody there, a default of no would read as somebody's no; the program knows itself what that means.
  const shown =
    standard === undefined || (kind === 'confirm' && standard === false)
      ? {}
      : { default: standard as never }
  if (kind === 'sample')
    return ctx.sample(prompt, { ...readSampling(sampling), ...(key !== undefined && { key }) })
  if (kind === 'confirm') return ctx.ask({ ...common, kind, ...shown })
  if (kind === 'decision')
    return ctx.ask({
      ...common,
      kind,
      options: Array.isArray(options) ? options : [],
      ...shown,
    } as DecisionQuestion)
  return ctx.ask({ ...common, kind: 'input', ...(schema !== undefined && { schema }), ...shown })
}
