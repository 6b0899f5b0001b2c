import type { Interaction, InteractionOption } from '../../contract/interaction.ts'
import type { JsonObject } from '../../contract/json.ts'
import { isObject } from '../../contract/json.ts'
import { readOptions } from '../../registry/child/protocol/read-options.ts'
import { readSampling } from '../../registry/read-sampling.ts'

const KINDS: readonly unknown[] = [
  'decision',
  'input',
  'confirm',
  'sample',
] satisfies Interaction['kind'][]

/** The question of a tool in the form that everybody who answers knows. `action` is what the tool calls it, and stays the same in every attempt. */
export type Question = Interaction & { readonly action: string }

/** Reads `action_required`: one of our kinds, or any word of the tool's own with what it told besides. `number` makes an id where the tool gave none. */
export function readQuestion(line: JsonObject, number: string): Question {
  const context = isObject(line['context']) ? line['context'] : {}
  const action =
    typeof line['action'] === 'string' && line['action'] !== '' ? line['action'] : 'input'
  const given = givenId(line)
  const options = readOptions(context['options'])
  const kind = kindOf(action, options)
  const { default: preset, timeout, key, schema } = context
  return {
    id: given ?? `q-${number}`,
    action,
    kind,
    prompt: promptOf(action, context),
    ...(kind === 'input' && isObject(schema) && { schema }),
    ...(options.length > 0 && { options }),
    ...(preset !== undefined && { default: preset }),
    ...(typeof timeout === 'number' && timeout > 0 && Number.isFinite(timeout) && { timeout }),
    ...(kind === 'sample' && { sampling: samplingOf(context) }),
    ...(typeof key === 'string' && /^[\w.-]{1,64}$/.test(key) && { key }),
  }
}

/** The id that the tool itself gave its question: it knows its answer by it. */
export function givenId(line: JsonObject): string | undefined {
  const id = (isObject(line['context']) ? line['context']['id'] : undefined) ?? line['id']
  return typeof id === 'string' && /^[\w.:-]{1,100}$/.test(id) && !id.startsWith('.')
    ? id
    : undefined
}

function kindOf(action: string, options: readonly InteractionOption[]): Interaction['kind'] {
  if (action === 'decision' && options.length === 0) return 'input'
  if (KINDS.includes(action)) return action as Interaction['kind']
  return options.length > 0 ? 'decision' : 'input'
}

function promptOf(action: string, context: JsonObject): string {
  if (typeof context['prompt'] === 'string' && context['prompt'] !== '') return context['prompt']
  const facts = JSON.stringify(context)
  return facts === '{}' ? action : `${action} ${facts}`
}

function samplingOf(context: JsonObject): NonNullable<Interaction['sampling']> {
  const { maxTokens = 1000, system, temperature, stopSequences } = readSampling(context)
  return {
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences && { stop_sequences: stopSequences }),
  }
}
