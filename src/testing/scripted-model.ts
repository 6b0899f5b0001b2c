import type { Model, ModelReply, ModelRequest } from '../agent/types.ts'
import { ToolError } from '../protocol/tool-error.ts'

/**
 * A reply of a scripted model: a text, a reply with calls (ids are made where they are left out),
 * or an error that it throws.
 */
export type ScriptedReply =
  | string
  | Error
  | (Partial<Omit<ModelReply, 'calls'>> & {
      readonly calls?: readonly {
        readonly id?: string
        readonly name: string
        readonly arguments?: unknown
      }[]
    })

/** A model that follows a script, and records the requests it got. */
export type ScriptedModel = Model & {
  /** What it was asked, in order. */ readonly requests: readonly ModelRequest[]
}

/**
 * Makes a model without a model, for tests: each request gets the next reply, or what a function
 * makes of the request. When the script is over it fails with DEPENDENCY.
 */
export function scriptedModel(
  script: readonly (
    ScriptedReply | ((request: ModelRequest) => ScriptedReply | Promise<ScriptedReply>)
  )[],
): ScriptedModel {
  const requests: ModelRequest[] = []
  return {
    name: 'scripted',
    requests,
    async generate(request, { onText }) {
      // What is said later does not belong to this request.
      const number = requests.push({ ...request, messages: [...request.messages] })
      const next = script[number - 1]
      if (next === undefined)
        throw new ToolError(
          'DEPENDENCY',
          `the script has ${script.length} replies, and this is request ${number}`,
          { retryable: false },
        )
      const reply = typeof next === 'function' ? await next(request) : next
      if (reply instanceof Error) throw reply
      const { text = '', calls = [], ...rest } = typeof reply === 'string' ? { text: reply } : reply
      for (const word of text.match(/\s*\S+\s*/g) ?? []) onText?.(word)
      return {
        usage: { input: 10, output: 5 },
        ...rest,
        text,
        calls: calls.map(({ id = '', name, arguments: given = {} }, index) => ({
          id: id || `call_${number}_${index + 1}`,
          name,
          arguments: given,
        })),
      }
    },
  }
}
