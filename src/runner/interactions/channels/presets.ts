import type { AnswerChannel } from '../broker.ts'

/** Answers that were given before anybody asked: by `--answer`, or by a policy. A question is known by its key, its id, or what the tool calls it. */
export function presetChannel(name: string, answers: { readonly [key: string]: unknown }): AnswerChannel {
  return {
    name,
    answer: async ({ id, key, action }, _signal, problem) => {
      // What was refused once would be refused again.
      const known = problem === undefined ? [key, id, action].find((one) => one !== undefined && Object.hasOwn(answers, one)) : undefined
      return known === undefined ? undefined : { value: answers[known] }
    },
  }
}
