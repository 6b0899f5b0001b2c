/**
 * Questions of a running tool: parses `action_required` events, and asks all answer channels until
 * a valid answer arrives.
 */

import { compileQuestionSchema, validateAnswer, validateDefault } from '../core/questions.ts'
import type { CompiledSchema } from '../define/schema/source.ts'
import type { Interaction, InteractionOption } from '../protocol/events.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readInteractionOptions, readSampling } from '../registry/child/events.ts'
import { MAX_TIMER_MS } from '../util/units.ts'
import type { JsonObject } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'

const QUESTION_KINDS: readonly unknown[] = [
  'decision',
  'input',
  'confirm',
  'sample',
] satisfies Interaction['kind'][]

/**
 * The question of a tool in the form that everybody who answers knows. `action` is what the tool
 * calls it, and stays the same in every attempt.
 */
export type RunQuestion = Interaction & { readonly action: string }

/**
 * Reads `action_required`: one of our kinds, or any word of the tool's own with what it told
 * besides. `number` makes an id where the tool gave none.
 */
export function parseQuestion(line: JsonObject, number: string): RunQuestion {
  const context = isObject(line['context']) ? line['context'] : {}
  const action =
    typeof line['action'] === 'string' && line['action'] !== '' ? line['action'] : 'input'
  const given = getToolQuestionId(line)
  const options = readInteractionOptions(context['options'])
  const kind = getQuestionKind(action, options)
  const { default: preset, timeout, key, schema } = context
  return compact({
    id: given ?? `q-${number}`,
    action,
    kind,
    prompt: getPrompt(action, context),
    schema: kind === 'input' && isObject(schema) ? schema : undefined,
    options: options.length > 0 ? options : undefined,
    default: preset,
    timeout:
      typeof timeout === 'number' && timeout > 0 && Number.isFinite(timeout) ? timeout : undefined,
    sampling: kind === 'sample' ? getSampling(context) : undefined,
    key: typeof key === 'string' && /^[\w.-]{1,64}$/.test(key) ? key : undefined,
  })
}

/** The id that the tool itself gave its question: it knows its answer by it. */
export function getToolQuestionId(line: JsonObject): string | undefined {
  const id = (isObject(line['context']) ? line['context']['id'] : undefined) ?? line['id']
  return typeof id === 'string' && /^[\w.:-]{1,100}$/.test(id) && !id.startsWith('.')
    ? id
    : undefined
}

function getQuestionKind(
  action: string,
  options: readonly InteractionOption[],
): Interaction['kind'] {
  if (action === 'decision' && options.length === 0) return 'input'
  if (QUESTION_KINDS.includes(action)) return action as Interaction['kind']
  return options.length > 0 ? 'decision' : 'input'
}

function getPrompt(action: string, context: JsonObject): string {
  if (typeof context['prompt'] === 'string' && context['prompt'] !== '') return context['prompt']
  const facts = JSON.stringify(context)
  return facts === '{}' ? action : `${action} ${facts}`
}

function getSampling(context: JsonObject): NonNullable<Interaction['sampling']> {
  const { maxTokens = 1000, system, temperature, stopSequences } = readSampling(context)
  return compact({ max_tokens: maxTokens, system, temperature, stop_sequences: stopSequences })
}

/** An answer, who gave it, and what he said about it: words for the record. */
type AttributedAnswer = { readonly value: unknown; readonly by: string; readonly note?: string }

/** An answer from a channel. `by` names who answered, if the name of the channel is not enough. */
export type ChannelAnswer = {
  readonly value: unknown
  readonly by?: string
  readonly note?: string
}

/**
 * A source of answers. Resolves to undefined when there is no answer to expect; `problem` says why
 * the last answer was refused.
 */
export type AnswerChannel = {
  readonly name: string
  /** Its answers count, but it is not worth waiting for alone. */
  readonly passive?: boolean
  answer(
    question: RunQuestion,
    signal: AbortSignal,
    problem?: string,
  ): Promise<ChannelAnswer | undefined>
}

/** Gets answers for the questions of a run. */
export type QuestionBroker = {
  /**
   * Rejects with ANSWER_REQUIRED when no channel answers, or when the question times out without a
   * default. `onRefused` is called with invalid answers.
   */
  ask(
    question: RunQuestion,
    signal: AbortSignal,
    onRefused?: (by: string, problem: string) => void,
  ): Promise<AttributedAnswer>
}

type QuestionBrokerOptions = {
  /** Channels with known answers, which are asked first. */
  readonly presets?: readonly AnswerChannel[]
  /** Asked at the same time; the first answer wins. */
  readonly channels: readonly AnswerChannel[]
  /** Seconds that a question without a timeout waits. */
  readonly defaultTimeoutSeconds: number
  /** The command that resumes the run with an answer to the question. */
  readonly getResumeCommand: (question: RunQuestion) => string
}

/**
 * Asks all channels at the same time. An invalid answer is refused, and its channel is asked again.
 * Questions reach the channels in the order in which they are asked, however long the presets take.
 */
export function createQuestionBroker({
  presets = [],
  channels,
  defaultTimeoutSeconds: longest,
  getResumeCommand: wayOut,
}: QuestionBrokerOptions): QuestionBroker {
  let earlier: Promise<unknown> = Promise.resolve()
  return {
    async ask(question, signal, onRefused = () => undefined) {
      const settled = new AbortController()
      const timer = new AbortController()
      const end = AbortSignal.any([signal, settled.signal, timer.signal])
      const wait = setTimeout(
        () => timer.abort(),
        Math.min((question.timeout ?? longest) * 1000, MAX_TIMER_MS),
      )
      try {
        const compiled = compileQuestionSchema(question)
        const askAll = (all: readonly AnswerChannel[]): Promise<AttributedAnswer | undefined> =>
          raceAnswers(
            all.map((channel) => ({
              passive: channel.passive === true,
              answer: askChannel(channel, question, compiled, end, onRefused),
            })),
          )
        const known = Promise.all([askAll(presets), earlier]).then(([answered]) => answered)
        earlier = known
        const answered = (await known) ?? (await askAll(channels))
        if (answered) return answered
        signal.throwIfAborted()
        // The default also applies when there is no one to ask.
        if (question.default !== undefined) {
          // Programs use null for "no choice".
          if (question.default !== null) await validateDefault(question)
          return { value: question.default, by: 'default' }
        }
        throw createUnansweredError(question, timer.signal.aborted, wayOut(question))
      } finally {
        clearTimeout(wait)
        settled.abort()
      }
    },
  }
}

async function askChannel(
  channel: AnswerChannel,
  question: RunQuestion,
  schema: Promise<CompiledSchema | undefined>,
  signal: AbortSignal,
  onRefused: (by: string, problem: string) => void,
): Promise<AttributedAnswer | undefined> {
  let problem: string | undefined
  while (!signal.aborted) {
    const given = await channel.answer(question, signal, problem)
    if (!given || signal.aborted) return undefined
    const checked = await validateAnswer(question, await schema, given.value)
    const { by = channel.name, note } = given
    if (checked.ok) return { value: checked.value, by, ...compact({ note }) }
    problem = checked.problem
    onRefused(by, problem)
  }
  return undefined
}

// The first that answers; undefined when all have given up. A channel that breaks is one that gives
// up.
function raceAnswers(
  asked: readonly {
    readonly passive: boolean
    readonly answer: Promise<AttributedAnswer | undefined>
  }[],
): Promise<AttributedAnswer | undefined> {
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

function createUnansweredError(
  { id, prompt, timeout }: RunQuestion,
  late: boolean,
  command: string,
): ToolError {
  const words = late
    ? `nobody answered the question '${id}'${timeout === undefined ? '' : ` within ${timeout} seconds`}`
    : `nobody is there to answer the question '${id}'`
  return new ToolError('ANSWER_REQUIRED', `${words}: ${prompt}`, {
    details: compact({ question: id, late: late || undefined }),
    suggestion: {
      action: 'retry_with_modified_input',
      fix: 'Answer it, and the run goes on',
      example: command,
      applicability: 'has_placeholders',
    },
  })
}

/**
 * Seconds that a question of a tool waits which has no time of its own. Those of workflows wait for
 * as long as it takes.
 */
export const DEFAULT_QUESTION_TIMEOUT_SECONDS = 24 * 3600
