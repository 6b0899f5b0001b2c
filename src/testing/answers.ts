/**
 * Who answers a tool in a test: answers and completions by value, and the lines that a person or a session would type for them.
 */

import type { Model, ModelReply, ModelRequest } from '../agent/types.ts'
import type { Interaction, SampleRequest } from '../protocol/events.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'

/**
 * Who answers a tool in a test: answers in the order of the questions, answers by the key or the
 * prompt of a question (or a part of the prompt),
 * or a function. Undefined means that nobody answers: the default of the question is taken, else
 * the call fails with ANSWER_REQUIRED.
 */
export type Answers =
  | readonly unknown[]
  | { readonly [question: string]: unknown }
  | ((question: Interaction) => unknown)

/** Who completes prompts in a test: completions in order, or a function. */
export type Samples =
  readonly string[] | ((request: SampleRequest) => string | undefined | Promise<string | undefined>)

/** Gives the next answer; undefined when there is none. */
type TestResponder<Question> = (question: Question) => unknown

/** Reads answers of any form. */
export function createAnswerer(answers: Answers = []): TestResponder<Interaction> {
  if (typeof answers === 'function') return answers
  return isAnswerList(answers) ? takeInOrder(answers) : (question) => findAnswer(answers, question)
}

/** Reads completions of any form. */
export function createCompleter(samples: Samples = []): TestResponder<SampleRequest> {
  return typeof samples === 'function' ? samples : takeInOrder(samples)
}

/** Keeps what a test's own functions throw: it belongs to the test, not to the tool. */
type TestCallbacks = {
  /** The function, which answers nothing once one has thrown. */
  guard<Question>(respond: TestResponder<Question>): (question: Question) => Promise<unknown>
  /** Throws what was thrown. */
  rethrow(): void
}

/** Looks after the functions of one run. */
export function guardTestCallbacks(): TestCallbacks {
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

function takeInOrder<Question>(answers: readonly unknown[]): TestResponder<Question> {
  const left = [...answers]
  return () => left.shift()
}

function findAnswer(
  answers: { readonly [question: string]: unknown },
  { key, prompt }: Interaction,
): unknown {
  const name =
    [key, prompt].find(
      (candidate) => candidate !== undefined && Object.hasOwn(answers, candidate),
    ) ?? Object.keys(answers).find((part) => part !== '' && prompt.includes(part))
  return name === undefined ? undefined : answers[name]
}

function isAnswerList(answers: Answers): answers is readonly unknown[] {
  return Array.isArray(answers)
}

// As often as a call repeats a question by itself.
const MAX_REPEATED_ANSWERS = 5

/** Somebody at stdin who answers each question when it is asked. */
type StdinResponder = {
  /** Hears a question. */
  onQuestion(question: Interaction, how: 'words' | 'line'): void
  /** The lines that are typed, one for each time that a line is wanted. */
  lines(): AsyncIterable<string>
}

/** Answers with what the test gave; ends stdin when there is nothing more to say. */
export function createStdinResponder(
  answers: Answers | undefined,
  samples: Samples | undefined,
  functions: TestCallbacks,
): StdinResponder {
  const answer = createAnswerer(answers)
  const complete = createCompleter(samples)
  let current:
    { readonly question: Interaction; readonly how: 'words' | 'line'; times: number } | undefined
  const write = functions.guard(async ({ question, how }: NonNullable<typeof current>) => {
    const given = await (question.kind === 'sample'
      ? complete(toSampleRequest(question))
      : answer(question))
    return formatAnswerLine(question, how, given)
  })
  return {
    onQuestion: (question, how) => {
      current = { question, how, times: 0 }
    },
    async *lines() {
      // Whoever wants a line without having asked reads all of stdin, or repeats a question for
      // ever.
      while (current && current.times++ < MAX_REPEATED_ANSWERS) {
        const line = await write(current)
        if (line === undefined) return
        yield line as string
      }
    },
  }
}

function toSampleRequest({ id, prompt, sampling, key }: Interaction): SampleRequest {
  return { id, prompt, ...sampling!, ...compact({ key }) }
}

/**
 * An answer as the person at the terminal types it, or as the caller of a session writes it;
 * undefined where stdin would end instead.
 */
function formatAnswerLine(
  question: Interaction,
  how: 'words' | 'line',
  answer: unknown,
): string | undefined {
  if (how === 'words') return formatTypedAnswer(question, answer)
  if (question.kind === 'sample')
    return answer === undefined
      ? undefined
      : JSON.stringify({ type: 'sample_response', id: question.id, content: answer })
  if (question.dialogue)
    return answer === undefined
      ? undefined
      : JSON.stringify(
          typeof answer === 'object' && answer !== null ? answer : { text: String(answer) },
        )
  // Without a value it says that nobody answers, and the default counts.
  return JSON.stringify({ id: question.id, value: answer })
}

function formatTypedAnswer(
  { kind, default: byDefault }: Interaction,
  answer: unknown,
): string | undefined {
  // The empty line takes the default; without one there is nothing to do but leave.
  if (answer === undefined) return byDefault === undefined ? undefined : ''
  if (typeof answer === 'string') {
    if (answer.includes('\n'))
      throw new Error(
        `what is typed at a terminal is one line, and the answer ${JSON.stringify(answer)} is more`,
      )
    return answer
  }
  if (kind === 'confirm' && typeof answer === 'boolean') return answer ? 'y' : 'n'
  return JSON.stringify(answer)
}

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
