/**
 * Questions a tool asks its caller: `ctx.ask`, `ctx.sample` and `ctx.roots`, and the confirmation
 * of destructive calls.
 *
 * A question is answered by whoever called the tool: a person at a terminal, an MCP client, the
 * dashboard, a policy. The deadline is paused while a question is open.
 */

import { pathToFileURL } from 'node:url'
import type { CompiledSchema, LazySchema } from '../define/schema/source.ts'
import { resolveSchema } from '../define/schema/source.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import type {
  Ask,
  ConfirmQuestion,
  Context,
  DecisionQuestion,
  InputQuestion,
  SampleOptions,
} from '../protocol/context.ts'
import type { Interaction, Root, SampleRequest } from '../protocol/events.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { SerialQueue } from '../util/async.ts'
import { compact, isObject, tryParseJson } from '../util/values.ts'
import { runAsHost } from './call-scope.ts'
import type { CallOptions } from './call.ts'
import { createShortId } from './call.ts'
import { createAuthorError } from './errors.ts'
import { redactInput } from './events.ts'
import type { RunningCall } from './lifecycle.ts'
import { onAbort, runUntilAborted } from './lifecycle.ts'

export type Questions = Pick<Context, 'ask' | 'sample' | 'roots'>

/** Builds the functions by which a handler asks its caller; `asker` names it in messages. */
export function createQuestions(
  asker: string,
  cwd: string,
  { answer, sample, roots }: CallOptions,
  call: RunningCall,
): Questions {
  const host: QuestionHost = { asker, answer, sample, roots, cwd, call, queue: new SerialQueue() }
  return {
    ask: ((question: AnyQuestion) => ask(host, question)) as Ask,
    sample: (prompt, options) => requestSample(host, prompt, options),
    roots: (options) => requestRoots(host, options),
  }
}

type AnyQuestion = ConfirmQuestion | DecisionQuestion | InputQuestion

/** What asking needs from the running call. */
type QuestionHost = {
  readonly answer: CallOptions['answer'] | undefined
  readonly sample: CallOptions['sample'] | undefined
  readonly roots: CallOptions['roots'] | undefined
  /** Who asks: `tool 'deploy'`. */
  readonly asker: string
  readonly cwd: string
  readonly call: RunningCall
  /** Questions without a key are matched to answers by order, so they are prepared in order. */
  readonly queue: SerialQueue
}

const MAX_ANSWER_ATTEMPTS = 5
const DEFAULT_SAMPLE_TIMEOUT_SECONDS = 120

/** Asks until the answer is valid. Without an answerer: the default, else ANSWER_REQUIRED. */
async function ask(host: QuestionHost, question: AnyQuestion): Promise<unknown> {
  const { schema, interaction } = await host.queue.run(() => prepareQuestion(question))
  return host.call.pauseDeadline(async () => {
    let problem: string | undefined
    for (let attempt = 0; attempt < MAX_ANSWER_ATTEMPTS; attempt++) {
      const answer = await askOnce(host, compact({ ...interaction, problem }))
      if (answer === undefined) return getDefaultAnswer(host, interaction)
      const checked = await validateAnswer(interaction, schema, answer)
      if (checked.ok) return checked.value
      problem = checked.problem
    }
    throw new ToolError('INVALID_INPUT', `the answer to '${interaction.prompt}' ${problem}`, {
      field: 'answer',
    })
  })
}

/** Requests a completion from the caller's model. Throws ANSWER_REQUIRED without one. */
async function requestSample(
  { asker, sample, call, queue }: QuestionHost,
  prompt: string,
  options: SampleOptions = {},
): Promise<string> {
  const request = await queue.run(() => toSampleRequest(prompt, options))
  if (!sample)
    throw new ToolError(
      'ANSWER_REQUIRED',
      `${asker} asks for a completion and no model is connected`,
      {
        details: { interaction: { kind: 'sample' } },
        suggestion:
          'Give the call a sampler: --sample-via stdin or --sample-via <url> on the command line, the option sample in a program',
      },
    )
  return call.pauseDeadline(async () => {
    const timeoutMs = toMilliseconds(options.timeout ?? DEFAULT_SAMPLE_TIMEOUT_SECONDS, 'timeout')
    const limit = createTimedSignal(call.questionSignal, timeoutMs)
    try {
      const content: unknown = await runUntilAborted(limit.signal, () =>
        runAsHost(() => sample(request, limit.signal)),
      )
      if (typeof content !== 'string')
        throw new ToolError('DEPENDENCY', 'the completion that came back is not text')
      return content
    } finally {
      limit.clear()
    }
  })
}

async function prepareQuestion(
  question: AnyQuestion,
): Promise<{ readonly schema: CompiledSchema | undefined; readonly interaction: Interaction }> {
  const schema =
    question.kind === 'input' && question.schema !== undefined
      ? (await import('../define/schema/compile.ts')).compileSchema(
          resolveSchema(question.schema as LazySchema),
          'output',
        )
      : undefined
  const interaction = toInteraction(question, schema)
  await validateDefault(interaction)
  return { schema, interaction }
}

function toSampleRequest(
  prompt: string,
  { maxTokens = 1000, system, temperature, stopSequences, key }: SampleOptions,
): SampleRequest {
  return compact({
    id: createShortId(),
    prompt,
    max_tokens: maxTokens,
    system,
    temperature,
    stop_sequences: stopSequences,
    key: readQuestionKey(key),
  })
}

function toInteraction(question: AnyQuestion, schema: CompiledSchema | undefined): Interaction {
  const options =
    question.kind === 'decision'
      ? question.options.map((option) => (typeof option === 'string' ? { value: option } : option))
      : undefined
  return compact({
    id: createShortId(),
    kind: question.kind,
    prompt: question.prompt,
    schema: schema?.json,
    options,
    default: question.default,
    timeout: question.timeout,
    key: readQuestionKey(question.key),
  })
}

async function askOnce({ answer, call }: QuestionHost, interaction: Interaction): Promise<unknown> {
  if (!answer) return undefined
  if (interaction.timeout === undefined)
    return runAsHost(() => answer(interaction, call.questionSignal))
  const limit = createTimedSignal(
    call.questionSignal,
    toMilliseconds(interaction.timeout, 'timeout'),
  )
  try {
    return await runUntilAborted(limit.signal, () =>
      runAsHost(() => answer(interaction, limit.signal)),
    )
  } catch (error) {
    // An answer that does not come in time counts as no answer.
    if (limit.timedOut()) return undefined
    throw error
  } finally {
    limit.clear()
  }
}

function getDefaultAnswer(host: QuestionHost, interaction: Interaction): unknown {
  if (interaction.default !== undefined) return interaction.default
  throw new ToolError(
    'ANSWER_REQUIRED',
    `${host.asker} asks '${interaction.prompt}' and nobody can answer`,
    { details: { interaction } },
  )
}

type TimedSignal = { readonly signal: AbortSignal; timedOut(): boolean; clear(): void }

function createTimedSignal(outer: AbortSignal, milliseconds: number): TimedSignal {
  const controller = new AbortController()
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    controller.abort(new ToolError('TIMEOUT', `no answer within ${milliseconds / 1000} seconds`))
  }, milliseconds)
  const stopListening = onAbort(outer, () => controller.abort(outer.reason))
  return {
    signal: controller.signal,
    timedOut: () => timedOut,
    clear() {
      clearTimeout(timer)
      stopListening()
    },
  }
}

/** Asks for the folders the caller works in. Without a provider: the working directory. */
async function requestRoots(
  { roots, cwd, call, queue }: QuestionHost,
  options: { readonly key?: string } = {},
): Promise<readonly Root[]> {
  const key = await queue.run(() => readQuestionKey(options.key))
  if (!roots) return [{ uri: pathToFileURL(cwd).href }]
  return call.pauseDeadline(async () =>
    validateRoots(await runAsHost(() => roots(compact({ key }), call.questionSignal))),
  )
}

function validateRoots(given: unknown): readonly Root[] {
  if (
    Array.isArray(given) &&
    given.every(
      (root) =>
        isObject(root) &&
        typeof root['uri'] === 'string' &&
        ['string', 'undefined'].includes(typeof root['name']),
    )
  )
    return given as readonly Root[]
  throw new ToolError('DEPENDENCY', 'the roots that came back are no list of { uri, name }')
}

/**
 * Asks for consent to a destructive call. Throws PERMISSION when it was declined, and
 * CONFIRMATION_REQUIRED when no one could decide.
 */
export async function confirmDestructiveCall(
  definition: ToolDefinition,
  input: unknown,
  { confirm: consent = true }: CallOptions,
  call: RunningCall,
): Promise<void> {
  if (consent === true) return
  const question: Interaction = {
    id: createShortId(),
    kind: 'confirm',
    prompt: `${definition.name} is destructive. Run it with ${JSON.stringify(redactInput(definition, input))}?`,
    default: false,
  }
  const decision =
    typeof consent === 'function'
      ? await call.pauseDeadline(() => runAsHost(() => consent(question)))
      : undefined
  if (decision === true) return
  if (decision === false)
    throw new ToolError(
      'PERMISSION',
      `'${definition.name}' was not run: its confirmation was declined`,
      { suggestion: { action: 'abort', fix: 'Do not call it again unless the user asks for it' } },
    )
  throw new ToolError(
    'CONFIRMATION_REQUIRED',
    `tool '${definition.name}' is destructive and was not confirmed`,
    { suggestion: 'Ask the user; then confirm the call' },
  )
}

/** Waits for the next answer in a session; undefined when the dialogue is over. */
export async function askInSession(
  definition: ToolDefinition,
  prompt: string,
  { answer }: CallOptions,
  call: RunningCall,
): Promise<unknown> {
  if (!answer)
    throw new ToolError(
      'ANSWER_REQUIRED',
      `tool '${definition.name}' is a session and nobody can answer it`,
      { suggestion: 'Run it with --session and answer with one JSON object a line' },
    )
  return call.pauseDeadline(() =>
    runAsHost(() =>
      answer({ id: createShortId(), kind: 'input', prompt, dialogue: true }, call.signal),
    ),
  )
}

/** A valid answer, or what is wrong with it, as words that follow its subject. */
type AnswerValidation =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }

// How issues name the whole value of an input.
const INPUT_SUBJECT = 'the input '

/** Whether a value answers a question; `schema` is that of an input. */
export async function validateAnswer(
  { kind, options = [] }: Pick<Interaction, 'kind' | 'options'>,
  schema: CompiledSchema | undefined,
  given: unknown,
): Promise<AnswerValidation> {
  const accept = (fits: boolean, problem: string): AnswerValidation =>
    fits ? { ok: true, value: given } : { ok: false, problem }
  if (kind === 'confirm') return accept(typeof given === 'boolean', 'must be true or false')
  if (kind === 'sample') return accept(typeof given === 'string', 'must be text')
  if (kind === 'decision') {
    const values = options.map(({ value }) => value)
    return accept(values.includes(given as string), `must be one of ${values.join(', ')}`)
  }
  const checked = await schema?.check(given)
  if (!checked) return { ok: true, value: given }
  if (checked.ok) return checked
  const words = (await import('../define/schema/issues.ts')).describeIssues(checked.issues)
  return {
    ok: false,
    problem: words.startsWith(INPUT_SUBJECT)
      ? words.slice(INPUT_SUBJECT.length)
      : `does not fit: ${words}`,
  }
}

/** Throws INTERNAL when the default of a question is not a valid answer to it. */
export async function validateDefault(question: Interaction): Promise<void> {
  if (question.default === undefined) return
  // A default is used without a check, so it must already be what a checked answer would become:
  // the published schema describes that.
  const checked = await validateAnswer(
    question,
    await compileQuestionSchema(question),
    question.default,
  )
  if (!checked.ok)
    throw createAuthorError(
      `the default of the question '${question.prompt}' ${checked.problem}`,
      'The author of the tool should give a default that answers the question',
    )
}

/** The compiled schema of a question; undefined for one that cannot be compiled. */
export async function compileQuestionSchema({
  schema,
}: Pick<Interaction, 'schema'>): Promise<CompiledSchema | undefined> {
  if (!schema) return undefined
  const { compileSchema } = await import('../define/schema/compile.ts')
  try {
    return compileSchema(schema, 'output')
  } catch {
    return undefined
  }
}

/** Checks the key of a question. Throws INTERNAL for one that not every transport can carry. */
function readQuestionKey(key: unknown): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(key)) return key
  const shown = (JSON.stringify(key) ?? String(key)).slice(0, 80)
  throw createAuthorError(
    `the key of a question must be 1 to 64 characters of A-Z, a-z, 0-9, '_', '.' and '-'; it is ${shown}`,
    'The author of the tool should name the question otherwise',
  )
}

type TypedQuestion = Pick<Interaction, 'kind' | 'options' | 'schema' | 'dialogue'>

/**
 * Parses an answer typed at a terminal or on a command line: the first reading that is valid, else
 * the likeliest, so that its problem is reported.
 */
export async function parseTypedAnswer(question: TypedQuestion, text: string): Promise<unknown> {
  const readings = listPossibleAnswers(question, text)
  if (readings.length === 1) return readings[0]
  const schema = await compileQuestionSchema(question)
  for (const reading of readings) {
    if ((await validateAnswer(question, schema, reading)).ok) return reading
  }
  return readings[0]
}

// A text that happens to be JSON stays text where nothing but text is wanted.
function listPossibleAnswers(
  { kind, schema, dialogue }: TypedQuestion,
  text: string,
): readonly unknown[] {
  const json = tryParseJson(text)
  const word = text.trim()
  // In a session a person writes plain words; programs write JSON objects.
  if (dialogue) {
    if (/^(quit|exit)$/i.test(word)) return [{ action: 'quit' }]
    return [isObject(json) ? json : { text }]
  }
  if (kind === 'confirm') {
    if (/^(y|yes|true)$/i.test(word)) return [true]
    return [/^(n|no|false)$/i.test(word) ? false : text]
  }
  if (json === undefined || kind === 'sample' || (kind === 'input' && !schema)) return [text]
  return kind === 'decision' || schema?.['type'] === 'string' ? [text, json] : [json, text]
}
