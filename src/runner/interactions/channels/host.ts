import type { Answerer } from '../../../contract/interaction.ts'
import type { AnswerChannel } from '../broker.ts'

/** The program that runs the tools answers; undefined leaves the question to others. */
export function hostChannel(answer: Answerer): AnswerChannel {
  return {
    name: 'the host',
    async answer(question, signal, problem) {
      const value: unknown = await answer(
        problem === undefined ? question : { ...question, problem },
        signal,
      )
      return value === undefined ? undefined : { value }
    },
  }
}
