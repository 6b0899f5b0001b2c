import { isObject } from '../../../../contract/json.ts'
import type { JsonObject } from '../../../../contract/json.ts'
import type { ModelCall, ModelReply } from '../../model-type.ts'

/** Puts a reply together from parts: those of a stream, or of whole content. */
export type Gathering = {
  /** Gives the text in it. */
  add(part: JsonObject): string
  readonly finished: boolean
  reply(): ModelReply
}

/** A part of a message as the provider wants to see it again. */
type Kept = {
  readonly type: string
  text?: string
  id?: unknown
  readonly call?: ModelCall
  providerOptions?: unknown
}

/** Starts with nothing. */
export function gather(): Gathering {
  const parts: Kept[] = []
  let finish: JsonObject | undefined

  const textOf = (type: 'text' | 'reasoning', part: JsonObject, delta: unknown): string => {
    const { id, providerMetadata } = part
    let kept =
      id === undefined ? undefined : parts.findLast((one) => one.type === type && one.id === id)
    if (!kept) parts.push((kept = { type, text: '', id }))
    if (providerMetadata !== undefined) kept.providerOptions = providerMetadata
    if (typeof delta !== 'string') return ''
    kept.text += delta
    return type === 'text' ? delta : ''
  }

  return {
    add(part) {
      const { type } = part
      const [kind, step] = String(type).split('-') as [string, string | undefined]
      if (kind === 'text' || kind === 'reasoning')
        return textOf(kind, part, step === undefined ? part['text'] : part['delta'])
      // What the provider runs itself is its own business.
      if (type === 'tool-call' && part['providerExecuted'] !== true)
        parts.push({
          type,
          call: {
            id: String(part['toolCallId'] ?? ''),
            name: String(part['toolName'] ?? ''),
            arguments: part['input'],
          },
          ...(part['providerMetadata'] !== undefined && {
            providerOptions: part['providerMetadata'],
          }),
        })
      else if (type === 'finish') finish = part
      return ''
    },
    get finished() {
      return finish !== undefined
    },
    reply: () => ({
      text: parts
        .filter(({ type }) => type === 'text')
        .map(({ text }) => text)
        .join(''),
      calls: parts.flatMap(({ call, providerOptions }) =>
        call
          ? [{ ...call, ...(providerOptions !== undefined && { own: { providerOptions } }) }]
          : [],
      ),
      finish: finishOf(finish?.['finishReason']),
      usage: usageOf(finish?.['usage']),
      // Text alone is known already.
      ...(parts.some(
        ({ type, providerOptions }) =>
          type === 'reasoning' || (type === 'text' && providerOptions !== undefined),
      ) && {
        own: {
          parts: parts
            .filter(({ type }) => type !== 'tool-call')
            .map(({ type, text, providerOptions }) => ({
              type,
              text,
              ...(providerOptions !== undefined && { providerOptions }),
            })),
        },
      }),
    }),
  }
}

// A word in v2, in v3 an object with the word.
function finishOf(reason: unknown): NonNullable<ModelReply['finish']> {
  const word = isObject(reason) ? reason['unified'] : reason
  return word === 'length' ? 'length' : word === 'content-filter' ? 'content_filter' : 'stop'
}

// A number in v2, in v3 an object with the total.
function usageOf(usage: unknown): { readonly input?: number; readonly output?: number } {
  const { inputTokens, outputTokens } = isObject(usage) ? usage : {}
  const [input, output] = [inputTokens, outputTokens].map((tokens) =>
    isObject(tokens) ? tokens['total'] : tokens,
  )
  return {
    ...(typeof input === 'number' && { input }),
    ...(typeof output === 'number' && { output }),
  }
}
