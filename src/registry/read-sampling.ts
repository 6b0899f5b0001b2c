import type { SampleOptions } from '../contract/context.ts'
import { isObject } from '../contract/json.ts'

/** The parameters of a completion, as programs write them on the wire; what is no such parameter is left out. */
export function readSampling(given: unknown): SampleOptions {
  if (!isObject(given)) return {}
  const { max_tokens: maxTokens, system, temperature, stop_sequences: stopSequences } = given
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof system === 'string' && { system }),
    ...(typeof temperature === 'number' && { temperature }),
    ...(Array.isArray(stopSequences) && { stopSequences: stopSequences.map(String) }),
  }
}
