/**
 * `--serve`: answers calls as JSON lines on stdin and stdout, so that a runner can make many calls
 * in one process.
 */

import { isUtf8 } from 'node:buffer'
import { resolve } from 'node:path'
import type { CallOptions, ServerCallOptions } from '../core/call.ts'
import { Cancellation } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { Servable } from '../core/provider.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import type { Interaction, SampleRequest, ToolEvent, ToolInvokedEvent } from '../protocol/events.ts'
import type { Io, TextSink } from '../protocol/io.ts'
import type { Duration } from '../protocol/limits.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { ErrorObject, Outcome } from '../protocol/outcome.ts'
import type { ServeRequestId } from '../protocol/output-protocols.ts'
import { SERVE_PROTOCOL_VERSION } from '../protocol/output-protocols.ts'
import { createFailureOutcome, reviveToolError, ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import { compact, isObject } from '../util/values.ts'
import type { LineWriter } from './server.ts'
import {
  ConditionWaiter,
  createFaultLogger,
  createLineWriter,
  createServerLifecycle,
  forEachStdinLine,
} from './server.ts'
import { redirectStrayOutput } from './stray-output.ts'
import type { CommandHost } from './types.ts'

const DRAIN_TIMEOUT_MS = 5000
const FINAL_ANSWER_TIMEOUT_MS = 1000

/**
 * `--serve`: answers calls by JSON lines on stdin and stdout until stdin ends or a signal comes;
 * gives the exit status.
 */
export async function serveCalls(
  set: Servable,
  { timeout }: GlobalFlags,
  io: Io,
  host: CommandHost,
): Promise<number> {
  const limit = parseTimeLimit(timeout)
  host.prepareForTools(redirectStrayOutput, createServerLifecycle(io, true, DRAIN_TIMEOUT_MS))
  io.stdout.unblock?.()
  const connection = new ServeConnection(set, io.stdout, {
    look: createFaultLogger(io, true),
    cwd: io.cwd,
    env: io.env,
    limit,
  })
  const { writer } = connection
  writer.write(
    JSON.stringify({ serve: SERVE_PROTOCOL_VERSION, name: set.name, version: set.version }),
  )
  try {
    await forEachStdinLine(io, host.signal, writer, (line) => connection.handleLine(line))
    connection.closeInput()
    // Who closes stdin may still be reading: what was asked is answered, if it does not take too
    // long.
    if (!host.signal.aborted) await connection.waitUntilIdle(DRAIN_TIMEOUT_MS, host.signal)
  } finally {
    connection.cancelAll('the program was told to end')
    await connection.waitUntilIdle(FINAL_ANSWER_TIMEOUT_MS)
    await writer.drained()
  }
  await io.stderr.flush()
  return 0
}

type ServeInputLine = { readonly [field: string]: unknown }
type ServeHandler = (
  set: Servable,
  line: ServeInputLine,
  options: ServerCallOptions,
) => Promise<Outcome>

// What a line asks for, by the field that names the thing.
const SERVE_HANDLERS: { readonly [field: string]: ServeHandler } = {
  call: (set, { call, input }, options) => set.call(call as string, input, options),
  resource: (set, { resource }, options) => set.readResource(resource as string, options),
  prompt: (set, { prompt, input }, options) => set.renderPrompt(prompt as string, input, options),
}
const HANDLER_FIELDS = Object.keys(SERVE_HANDLERS)

/** Whoever calls, behind stdin and stdout. */
class ServeConnection {
  readonly writer: LineWriter
  readonly #requests = new Map<ServeRequestId, ServedRequest>()
  readonly #until = new ConditionWaiter()
  #deaf = false

  constructor(
    readonly set: Servable,
    sink: TextSink,
    readonly surroundings: ServeDefaults & { look(outcome: Outcome): void },
  ) {
    this.writer = createLineWriter(sink, this)
  }

  /** Requests that are being answered. */
  get running(): number {
    return this.#requests.size
  }

  /**
   * Takes one line; what cannot be understood is answered with an error, and changes nothing else.
   */
  handleLine(bytes: Buffer | 'too long'): void {
    const line = parseServeLine(bytes)
    if (typeof line === 'string') return this.#complain(line)
    if (Object.hasOwn(line, 'ping'))
      return typeof line['ping'] === 'number'
        ? this.writer.write(`{"pong":${line['ping']}}`)
        : this.#complain('ping must be a number')
    const id = line['id']
    if (typeof id !== 'string' && typeof id !== 'number')
      return this.#complain('it needs an id, a number or a text')
    const field = HANDLER_FIELDS.find((candidate) => Object.hasOwn(line, candidate))
    if (field !== undefined) return this.#work(id, field, line)
    if (line['cancel'] === true)
      return this.#requests.get(id)?.cancel('the caller cancelled the call')
    if (Object.hasOwn(line, 'answer')) return this.#requests.get(id)?.acceptAnswer(line['answer'])
    this.#complain(
      `it asks for nothing: it has none of the fields ${[...HANDLER_FIELDS, 'cancel', 'answer', 'ping'].join(', ')}`,
    )
  }

  /** After this, questions get no answer, neither open ones nor new ones. */
  closeInput(): void {
    this.#deaf = true
    for (const request of this.#requests.values()) request.closeInput()
  }

  cancelAll(reason: string): void {
    for (const request of this.#requests.values()) request.cancel(reason)
  }

  /** Resolves when everything is answered, after a time, or when the signal aborts. */
  waitUntilIdle(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#until.wait(() => this.running === 0, milliseconds, signal)
  }

  #work(id: ServeRequestId, field: string, line: ServeInputLine): void {
    if (this.#requests.has(id)) return this.#complain(`the id ${JSON.stringify(id)} is in use`)
    const request = new ServedRequest(id, this.writer)
    request.isInputClosed = this.#deaf
    this.#requests.set(id, request)
    const end = (outcome: Outcome): void => {
      this.surroundings.look(outcome)
      request.end(outcome)
      this.#requests.delete(id)
      this.#until.notify()
    }
    try {
      if (typeof line[field] !== 'string')
        throw new ToolError('INVALID_INPUT', `${field} must be a text`, { field })
      const options = request.options(parseCallOptions(line['options'], this.surroundings))
      SERVE_HANDLERS[field]!(this.set, line, options).then(end, (error: unknown) =>
        end(this.#failure(error, String(line[field]))),
      )
    } catch (error) {
      end(this.#failure(error, String(line[field])))
    }
  }

  #failure(error: unknown, what: string): Outcome {
    const tool = `${this.set.name}.${shorten(what, 64)}`
    return createFailureOutcome(toToolError(error).toObject(), tool, this.set.version)
  }

  #complain(problem: string): void {
    this.writer.write(
      JSON.stringify({
        type: 'error',
        error: new ToolError('INVALID_INPUT', `the line was not understood: ${problem}`).toObject(),
      }),
    )
  }
}

// A text says what is wrong with the line.
function parseServeLine(bytes: Buffer | 'too long'): ServeInputLine | string {
  if (bytes === 'too long') return 'it is too long'
  if (!isUtf8(bytes)) return 'it is not valid UTF-8'
  try {
    const line: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(line) ? line : 'it is not an object'
  } catch (error) {
    return `it is not JSON: ${(error as Error).message}`
  }
}

/**
 * What holds for all calls: where and with what the program was started, and the longest that a
 * call may take.
 */
type ServeDefaults = {
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly limit: number | undefined
}

/** The options of a request as a call takes them; unknown ones are ignored. Throws INVALID_INPUT. */
function parseCallOptions(given: unknown, { cwd, env, limit }: ServeDefaults): CallOptions {
  if (given === undefined)
    return compact({ cwd, env, timeout: limit !== undefined ? `${limit}ms` : undefined })
  if (!isObject(given)) throw invalidOptionError('options', 'an object')
  return compact({
    timeout: capTimeout(given['timeout'], limit),
    confirm: readOption(given, 'confirm', 'boolean'),
    caller: readOption(given, 'caller', 'string'),
    idempotencyKey: readOption(given, 'idempotency_key', 'string'),
    verbose: readOption(given, 'verbose', 'number'),
    cwd: resolve(cwd, readOption(given, 'cwd', 'string') ?? ''),
    env: given['env'] === undefined ? env : { ...env, ...readEnvVariables(given['env']) },
    dryRun: readOption(given, 'dry_run', 'boolean') || undefined,
  })
}

/** Milliseconds of a limit for all calls; throws INVALID_INPUT for what is no duration. */
function parseTimeLimit(timeout: Duration | undefined): number | undefined {
  return timeout === undefined ? undefined : toMilliseconds(timeout, 'timeout')
}

type OptionTypes = { readonly string: string; readonly number: number; readonly boolean: boolean }

function readOption<Type extends keyof OptionTypes>(
  given: { readonly [key: string]: unknown },
  name: string,
  type: Type,
): OptionTypes[Type] | undefined {
  const value = given[name]
  if (value === undefined || typeof value === type) return value as OptionTypes[Type] | undefined
  throw invalidOptionError(`options.${name}`, `a ${type}`)
}

function readEnvVariables(given: unknown): { readonly [name: string]: string } {
  if (isObject(given) && Object.values(given).every((value) => typeof value === 'string'))
    return given as { readonly [name: string]: string }
  throw invalidOptionError('options.env', 'an object of texts')
}

// What the program was started with cannot be stretched by a request.
function capTimeout(wanted: unknown, limit: number | undefined): Duration | undefined {
  if (wanted !== undefined && typeof wanted !== 'number' && typeof wanted !== 'string')
    throw invalidOptionError('options.timeout', 'a duration')
  if (limit === undefined) return wanted
  return `${Math.min(limit, wanted === undefined ? limit : toMilliseconds(wanted, 'timeout'))}ms`
}

function invalidOptionError(field: string, wanted: string): ToolError {
  return new ToolError('INVALID_INPUT', `${field} must be ${wanted}`, { field })
}

const MAX_LINE_CHARS = 64 * 1024 * 1024

type ClientAnswer = { readonly value: unknown } | { readonly error: unknown } | 'nobody'

/**
 * One request while it runs: sends its events, questions and result to the caller.
 */
class ServedRequest {
  readonly #head: string
  readonly #cancellation = new Cancellation()
  #open: Map<string, (answer: ClientAnswer) => void> | undefined
  #wasAnswered = false
  /** Nobody can answer any more. */
  isInputClosed = false

  constructor(
    id: ServeRequestId,
    readonly writer: LineWriter,
  ) {
    this.#head = `{"id":${JSON.stringify(id)},"type":`
  }

  /** The options of the request with everything that connects the call to the wire. */
  options(given: CallOptions): ServerCallOptions {
    return {
      confirm: (question) => this.#confirm(question),
      ...given,
      cancellation: this.#cancellation,
      unrecorded: true,
      onEvent: (event) => this.#tell(event),
      answer: (question, signal) => this.#answer(question, signal),
      sample: (request, signal) => this.#sample(request, signal),
    }
  }

  cancel(reason: string): void {
    this.#cancellation.cancel(new ToolError('CANCELLED', reason))
  }

  /** Takes an answer; one to a question that is not open any more is left alone. */
  acceptAnswer(answer: unknown): void {
    if (!isObject(answer)) return
    const settle = this.#open?.get(answer['question'] as string)
    if (!settle) return
    if (isObject(answer['error'])) settle({ error: toAnswerError(answer['error']) })
    else
      settle(
        Object.hasOwn(answer, 'value') && answer['nobody'] !== true
          ? { value: answer['value'] }
          : 'nobody',
      )
  }

  /** After this, questions get no answer. */
  closeInput(): void {
    this.isInputClosed = true
    for (const settle of [...(this.#open?.values() ?? [])]) settle('nobody')
  }

  /** Says how it ended. */
  end(outcome: Outcome): void {
    this.writer.write(this.#resultLine(outcome) ?? this.#line('result', toTooLongOutcome(outcome))!)
  }

  #tell(event: ToolEvent | ToolInvokedEvent): void | Promise<void> {
    if (event.type === 'tool_invoked') return
    const { type, ...rest } = event
    const line = this.#line(type, rest)
    if (line === undefined)
      throw new ToolError('OUTPUT_LIMIT', `an event is longer than ${MAX_LINE_CHARS} characters`)
    if (type === 'progress' || type === 'log') this.writer.offer(line)
    else this.writer.write(line)
    if (this.writer.congested) return this.writer.drained()
  }

  #resultLine(outcome: Outcome): string | undefined {
    try {
      return this.#line('result', outcome)
    } catch {
      // Longer than any text can be.
      return undefined
    }
  }

  // Undefined for what no reader would take as one line.
  #line(type: string, rest: object): string | undefined {
    const fields = JSON.stringify(rest)
    if (fields.length > MAX_LINE_CHARS) return undefined
    return `${this.#head}"${type}"${fields === '{}' ? '}' : `,${fields.slice(1)}`}`
  }

  async #confirm(question: Interaction): Promise<boolean | undefined> {
    const answer = await this.#ask(question, this.#cancellation)
    return answer !== 'nobody' && 'value' in answer && typeof answer.value === 'boolean'
      ? answer.value
      : undefined
  }

  async #answer(question: Interaction, signal: AbortSignal): Promise<unknown> {
    const answer = await this.#ask(question, signal)
    if (answer === 'nobody') {
      // A session that had answers is over; one without any fails.
      if (question.dialogue && !this.#wasAnswered)
        throw new ToolError(
          'ANSWER_REQUIRED',
          `the tool is a session, asks '${question.prompt}', and nobody can answer`,
          { details: { interaction: question } },
        )
      return undefined
    }
    if ('error' in answer) throw answer.error
    this.#wasAnswered = true
    return answer.value
  }

  async #sample(
    { id, prompt, key, ...sampling }: SampleRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const answer = await this.#ask(compact({ id, kind: 'sample', prompt, sampling, key }), signal)
    if (answer === 'nobody')
      throw new ToolError(
        'ANSWER_REQUIRED',
        'the tool asks for a completion and no model is connected',
        { details: { interaction: { kind: 'sample' } } },
      )
    if ('error' in answer) throw answer.error
    return answer.value as string
  }

  #ask(question: Interaction, signal: AbortSignal | Cancellation): Promise<ClientAnswer> {
    if (this.isInputClosed || signal.aborted) return Promise.resolve('nobody')
    return new Promise((resolve) => {
      const open = (this.#open ??= new Map<string, (answer: ClientAnswer) => void>())
      const settle = (answer: ClientAnswer): void => {
        open.delete(question.id)
        stopListening()
        resolve(answer)
      }
      const stopListening = onAbort(signal, () => settle('nobody'))
      open.set(question.id, settle)
      this.writer.write(this.#line('question', { question }) ?? '')
    })
  }
}

function toAnswerError(error: Record<string, unknown>): ToolError {
  const { code, message } = error
  if (typeof code !== 'string' || typeof message !== 'string')
    return new ToolError('DEPENDENCY', 'the question could not be answered')
  return reviveToolError(error as unknown as ErrorObject)
}

function toTooLongOutcome({ meta }: Outcome): Outcome {
  const error = new ToolError(
    'OUTPUT_LIMIT',
    `the result is longer than ${MAX_LINE_CHARS} characters and does not fit on a line`,
    { suggestion: 'Ask for less, or call the program without --serve' },
  )
  return { ok: false, status: 'error', error: error.toObject(), meta }
}
