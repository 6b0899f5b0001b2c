import type { Interaction, SampleRequest } from '../contract/interaction.ts'
import { answerer, completer } from './answers.ts'
import type { Answers, Samples, TestFunctions } from './answers.ts'
import { lineFor } from './typed-line.ts'

// As often as a call repeats a question by itself.
const LONGEST_ANSWER_LOOP = 5

/** Somebody at stdin who answers each question when it is asked. */
export type Typist = {
  /** Hears a question. */
  asked(question: Interaction, how: 'words' | 'line'): void
  /** The lines that are typed, one for each time that a line is wanted. */
  lines(): AsyncIterable<string>
}

/** Answers with what the test gave; ends stdin when there is nothing more to say. */
export function createTypist(
  answers: Answers | undefined,
  samples: Samples | undefined,
  functions: TestFunctions,
): Typist {
  const answer = answerer(answers)
  const complete = completer(samples)
  let current:
    { readonly question: Interaction; readonly how: 'words' | 'line'; times: number } | undefined
  const write = functions.guard(async ({ question, how }: NonNullable<typeof current>) => {
    const given = await (question.kind === 'sample'
      ? complete(requestOf(question))
      : answer(question))
    return lineFor(question, how, given)
  })
  return {
    asked: (question, how) => {
      current = { question, how, times: 0 }
    },
    async *lines() {
      // Whoever wants a line without having asked reads all of stdin, or repeats a question for ever.
      while (current && current.times++ < LONGEST_ANSWER_LOOP) {
        const line = await write(current)
        if (line === undefined) return
        yield line as string
      }
    },
  }
}

function requestOf({ id, prompt, sampling, key }: Interaction): SampleRequest {
  return { id, prompt, ...sampling!, ...(key !== undefined && { key }) }
}
