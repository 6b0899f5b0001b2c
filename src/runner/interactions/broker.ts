import { ToolError } from '../../contract/tool-error.ts'
import { checkAnswer } from '../../call/check-answer.ts'
import { checkDefault } from '../../call/check-default.ts'
import type { Schema } from '../../define/schema/schema.ts'
import { compileAsked } from '../../call/compile-asked.ts'
import type { Question } from './read-question.ts'

/** An answer, who gave it, and what he said about it: words for the record. */
export type Answered = { readonly value: unknown; readonly by: string; readonly note?: string }

/** What somebody who may answer gives. `by` is who it was, where the name of the channel says too little. */
export type GivenAnswer = { readonly value: unknown; readonly by?: string; readonly note?: string }

/** Somebody who may answer. Resolves with undefined where nobody is there (any more); `problem` tells why the last answer was refused. */
export type AnswerChannel = {
  readonly name: string
  /** It is heard, but nobody waits for it alone. */
  readonly passive?: boolean
  answer(
    question: Question,
    signal: AbortSignal,
    problem?: string,
  ): Promise<GivenAnswer | undefined>
}

/** Gets answers for the questions of a run. */
export type Broker = {
  /** Rejects with ANSWER_REQUIRED where nobody can answer, and when the time of the question is over and it has no default. `onRefused` is told of answers that do not fit. */
  ask(
    question: Question,
    signal: AbortSignal,
    onRefused?: (by: string, problem: string) => void,
  ): Promise<Answered>
}

export type BrokerOptions = {
  /** Those who know their answers beforehand: nobody else is asked what they know. */
  readonly presets?: readonly AnswerChannel[]
  /** All of them at once; the first answer wins. */
  readonly channels: readonly AnswerChannel[]
  /** Seconds that a question without a time of its own waits. */
  readonly longest: number
  /** The command with which the run would go on, for a question that nobody answered. */
  readonly wayOut: (question: Question) => string
}

/** Lets everybody answer at the same time. An answer that does not fit is refused, and whoever gave it may try again. Questions reach the channels in the order in which they are asked, however long it takes to find out what was known beforehand. */
export function createBroker({ presets = [], channels, longest, wayOut }: BrokerOptions): Broker {
  let earlier: Promise<unknown> = Promise.resolve()
  return {
    async ask(question, signal, onRefused = () => undefined) {
      const settled = new AbortController()
      const timer = new AbortController()
      const end = AbortSignal.any([signal, settled.signal, timer.signal])
      const wait = setTimeout(
        () => timer.abort(),
        Math.min((question.timeout ?? longest) * 1000, 2 ** 31 - 1),
      )
      try {
        const compiled = compileAsked(question)
        const askAll = (all: readonly AnswerChannel[]): Promise<Answered | undefined> =>
          first(
            all.map((channel) => ({
              passive: channel.passive === true,
              answer: askOne(channel, question, compiled, end, onRefused),
            })),
          )
        const known = Promise.all([askAll(presets), earlier]).then(([answered]) => answered)
        earlier = known
        const answered = (await known) ?? (await askAll(channels))
        if (answered) return answered
        signal.throwIfAborted()
        // Nobody there and nobody in time are the same to whoever waits.
        if (question.default !== undefined) {
          // Programs say so that nobody chose.
          if (question.default !== null) await checkDefault(question)
          return { value: question.default, by: 'default' }
        }
        throw nobody(question, timer.signal.aborted, wayOut(question))
      } finally {
        clearTimeout(wait)
        settled.abort()
      }
    },
  }
}

async function askOne(
  channel: AnswerChannel,
  question: Question,
  schema: Promise<Schema | undefined>,
  signal: AbortSignal,
  onRefused: (by: string, problem: string) => void,
): Promise<Answered | undefined> {
  let problem: string | undefined
  while (!signal.aborted) {
    const given = await channel.answer(question, signal, problem)
    if (!given || signal.aborted) return undefined
    const checked = await checkAnswer(question, await schema, given.value)
    const { by = channel.name, note } = given
    if (checked.ok) return { value: checked.value, by, ...(note !== undefined && { note }) }
    problem = checked.problem
    onRefused(by, problem)
  }
  return undefined
}

// The first that answers; undefined when all have given up. A channel that breaks is one that gives up.
function first(
  asked: readonly { readonly passive: boolean; readonly answer: Promise<Answered | undefined> }[],
): Promise<Answered | undefined> {
  return new Promise((resolve) => {
    const tries = asked.map(async ({ passive, answer }) => {
      const tried = answer.then(
        (answered) => {
          if (answered) resolve(answered)
        },
        () => undefined,
      )
      if (!passive) await tried
    })
    void Promise.all(tries).then(() => resolve(undefined))
  })
}

function nobody({ id, prompt, timeout }: Question, late: boolean, command: string): ToolError {
  const words = late
    ? `nobody answered the question '${id}'${timeout === undefined ? '' : ` within ${timeout} seconds`}`
    : `nobody is there to answer the question '${id}'`
  return new ToolError('ANSWER_REQUIRED', `${words}: ${prompt}`, {
    details: { question: id, ...(late && { late: true }) },
    suggestion: {
      action: 'retry_with_modified_input',
      fix: 'Answer it, and the run goes on',
      example: command,
      applicability: 'has_placeholders',
    },
  })
}
