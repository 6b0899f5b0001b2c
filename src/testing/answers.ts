import type { Interaction, SampleRequest } from '../contract/interaction.ts'

/**
 * Who answers a tool in a test: answers in the order of the questions, answers by the key or the prompt of a question (or a part of the prompt),
 * or a function. Undefined means that nobody answers: the default of the question is taken, else the call fails with ANSWER_REQUIRED.
 */
export type Answers =
  | readonly unknown[]
  | { readonly [question: string]: unknown }
  | ((question: Interaction) => unknown)

/** Who completes prompts in a test: completions in order, or a function. */
export type Samples =
  readonly string[] | ((request: SampleRequest) => string | undefined | Promise<string | undefined>)

/** Gives the next answer; undefined when there is none. */
export type Responder<Question> = (question: Question) => unknown

/** Reads answers of any form. */
export function answerer(answers: Answers = []): Responder<Interaction> {
  if (typeof answers === 'function') return answers
  return isList(answers) ? inOrder(answers) : (question) => byName(answers, question)
}

/** Reads completions of any form. */
export function completer(samples: Samples = []): Responder<SampleRequest> {
  return typeof samples === 'function' ? samples : inOrder(samples)
}

/** Keeps what a test's own functions throw: it belongs to the test, not to the tool. */
export type TestFunctions = {
  /** The function, which answers nothing once one has thrown. */
  guard<Question>(respond: Responder<Question>): (question: Question) => Promise<unknown>
  /** Throws what was thrown. */
  rethrow(): void
}

/** Looks after the functions of one run. */
export function lookAfterFunctions(): TestFunctions {
  let thrown: { readonly error: unknown } | undefined
  return {
    guard: (respond) => async (question) => {
      try {
        return thrown ? undefined : await respond(question)
      } catch (error) {
        thrown = { error }
        return undefined
      }
    },
    rethrow() {
      if (thrown) throw thrown.error
    },
  }
}

function inOrder<Question>(answers: readonly unknown[]): Responder<Question> {
  const left = [...answers]
  return () => left.shift()
}

function byName(
  answers: { readonly [question: string]: unknown },
  { key, prompt }: Interaction,
): unknown {
  const name =
    [key, prompt].find(
      (candidate) => candidate !== undefined && Object.hasOwn(answers, candidate),
    ) ?? Object.keys(answers).find((part) => part !== '' && prompt.includes(part))
  return name === undefined ? undefined : answers[name]
}

function isList(answers: Answers): answers is readonly unknown[] {
  return Array.isArray(answers)
}
