import { readTyped } from '../../../call/read-typed.ts'
import type { AnswerChannel } from '../broker.ts'

/** Answers that were given before anybody asked: by `--answer`, or by a policy. A question is known by its key, its id, or what the tool calls it. `typed` are the keys of those that are text as somebody typed it. */
export function presetChannel(
  name: string,
  answers: { readonly [key: string]: unknown },
  typed: readonly string[] = [],
): AnswerChannel {
  return {
    name,
    answer: async (question, _signal, problem) => {
      const { id, key, action } = question
      // What was refused once would be refused again.
      const known =
        problem === undefined
          ? [key, id, action].find((one) => one !== undefined && Object.hasOwn(answers, one))
          : undefined
      if (known === undefined) return undefined
      const value = answers[known]
      return {
        value:
          typeof value === 'string' && typed.includes(known)
            ? await readTyped(question, value)
            : value,
      }
    },
  }
}
