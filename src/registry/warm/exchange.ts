/**
 * The lines between a warm program and us: greeting, requests, questions, events and results.
 */

import { toToolError } from '../../core/errors.ts'
import { onCancelled } from '../../core/lifecycle.ts'
import type { Context } from '../../protocol/context.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import type { Interaction } from '../../protocol/events.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import type { ServeAnswer, ServeCallOptions } from '../../protocol/output-protocols.ts'
import { SERVE_PROTOCOL_VERSION } from '../../protocol/output-protocols.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { WarmCall } from '../child/child-call.ts'
import { WarmUnavailable } from '../child/child-call.ts'
import { askCaller, emitEvent, readEvent } from '../child/events.ts'

/** One request and everything the program sends about it until its result. */
export class WarmExchange {
  readonly result: Promise<Outcome>
  /** The request was handed to the program. */
  sent = false
  /** It has a result, or its call was cancelled. */
  over = false
  #resolve!: (outcome: Outcome) => void
  #reject!: (error: Error) => void
  #stopListening: () => void = () => undefined

  /** `send` sends a line about this exchange; `onAbandon` is called when its call is cancelled. */
  constructor(
    readonly tool: string,
    readonly ctx: Context,
    readonly send: (fields: string) => void,
    onAbandon: () => void,
  ) {
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#stopListening = onCancelled(ctx, (reason) => {
      this.fail(reason)
      onAbandon()
    })
  }

  /** Handles a line of the program about this exchange; true when it was the last one. */
  take(line: JsonObject): boolean {
    const isResult = line['type'] === 'result'
    if (this.over) return isResult
    if (isResult) this.#finish(line)
    else if (line['type'] === 'question') void this.#answer(line['question'])
    else emitLine(line, this.ctx)
    return isResult
  }

  fail(error: Error): void {
    if (this.over) return
    this.#close()
    this.#reject(error)
  }

  #finish(line: JsonObject): void {
    const outcome = readResult(line, this.tool)
    const problem = `${this.tool}: the program gave something that is no result`
    if (!outcome) return this.fail(new ToolError('DEPENDENCY', problem))
    this.#close()
    this.#resolve(outcome)
  }

  async #answer(question: unknown): Promise<void> {
    if (!isObject(question) || typeof question['id'] !== 'string') return
    const answer = await answerServeQuestion(question as unknown as Interaction, this.ctx)
    if (!this.over) this.send(`"answer":${JSON.stringify(answer)}`)
  }

  #close(): void {
    this.over = true
    this.#stopListening()
  }
}

const RARE_FIELDS = ['message', 'hidden', 'content']

// Most results are plain and need no reading.
function readResult(line: JsonObject, tool: string): Outcome | undefined {
  const { meta } = line
  if (
    line['ok'] === true &&
    line['status'] === 'success' &&
    isObject(meta) &&
    Object.hasOwn(line, 'result') &&
    !RARE_FIELDS.some((field) => Object.hasOwn(line, field)) &&
    !Object.hasOwn(meta, 'artifacts')
  )
    return line as unknown as Outcome
  const { id: _id, ...document } = line
  const outcome = readOutcome(document, { tool })
  if (!outcome?.meta.artifacts) return outcome
  // They were emitted when they were made.
  const { artifacts: _emitted, ...rest } = outcome.meta
  return { ...outcome, meta: rest }
}

const MAX_STRAY_LINES = 1000

/** The first line of a program, by which it reports that it serves, and the wait for it. */
export class ServeGreeting {
  /** Resolves when it came; rejects with WarmUnavailable when it will not come any more. */
  readonly heard: Promise<void>
  came = false
  #resolve!: () => void
  #reject!: (error: WarmUnavailable) => void
  #strays = 0
  readonly #timer: NodeJS.Timeout

  /** `onGiveUp` is called when it did not come in time, or other lines came instead. */
  constructor(
    timeoutMs: number,
    readonly onGiveUp: () => void,
  ) {
    this.heard = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Those who wait for it get the error; without any of them it is no unhandled rejection.
    this.heard.catch(() => undefined)
    this.#timer = setTimeout(
      () => this.#giveUp(`it did not say within ${timeoutMs / 1000} seconds that it serves`),
      timeoutMs,
    )
  }

  /** Handles a line of the program. Libraries may print some lines first, but not a flood. */
  take(line: JsonObject | undefined): void {
    if (line?.['serve'] === SERVE_PROTOCOL_VERSION) {
      clearTimeout(this.#timer)
      this.came = true
      this.#resolve()
    } else if (++this.#strays === MAX_STRAY_LINES)
      this.#giveUp('it says many other things instead of serving')
  }

  /** It will not come any more. */
  fail(reason: string): void {
    clearTimeout(this.#timer)
    this.#reject(new WarmUnavailable(reason))
  }

  #giveUp(reason: string): void {
    this.fail(reason)
    this.onGiveUp()
  }
}

/**
 * Lines on their way to a program: the first is sent immediately, and lines that are added while
 * the pipe is busy are sent together.
 */
export class LineOutbox {
  #queue: { readonly line: string; readonly exchange: WarmExchange | undefined }[] = []
  #isBusy = false

  /** `write` returns undefined where the process cannot take lines; they may go to another one. */
  constructor(readonly write: (lines: string) => Promise<boolean> | undefined) {}

  /** Sends a line; its exchange is marked as sent when it has left. */
  send(line: string, exchange?: WarmExchange): void {
    this.#queue.push({ line, exchange })
    if (!this.#isBusy) this.#flush()
  }

  /** Removes a request that has not left. */
  drop(exchange: WarmExchange): void {
    this.#queue = this.#queue.filter((queued) => queued.exchange !== exchange)
  }

  #flush(): void {
    this.#isBusy = false
    if (this.#queue.length === 0) return
    const batch = this.#queue
    const written = this.write(batch.map(({ line }) => line).join('\n'))
    if (!written) return
    this.#queue = []
    for (const { exchange } of batch) if (exchange) exchange.sent = true
    this.#isBusy = true
    void written.then(() => this.#flush())
  }
}

/**
 * The line of a call, without id and braces. Throws INVALID_INPUT for an input that JSON cannot
 * carry.
 */
export function formatCallFields({ tool, input, confirmed }: WarmCall, ctx: Context): string {
  const { deadline, dryRun, caller, verbose } = ctx
  const options: ServeCallOptions = compact({
    timeout: deadline ? Math.max(0.001, deadline.remaining()) : undefined,
    dry_run: dryRun || undefined,
    confirm: confirmed || undefined,
    caller,
    verbose: verbose > 0 ? verbose : undefined,
  })
  const text = JSON.stringify(options)
  const optionsField = text === '{}' ? '' : `,"options":${text}`
  return `"call":${JSON.stringify(tool)}${formatInputField(input)}${optionsField}`
}

function formatInputField(input: unknown): string {
  try {
    const text = JSON.stringify(input) as string | undefined
    return text === undefined ? '' : `,"input":${text}`
  } catch (error) {
    throw new ToolError(
      'INVALID_INPUT',
      `the input cannot be written as JSON: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

/** Asks the caller what the program asks, and returns the answer for it. Never throws. */
async function answerServeQuestion(given: Interaction, ctx: Context): Promise<ServeAnswer> {
  const { id: question, kind, options, default: preset } = given
  try {
    const asked = {
      ...given,
      prompt: String(given.prompt),
      options: Array.isArray(options) ? options : [],
      // Without an answerer, a default of no would look like the caller's no; the program itself
      // knows what a missing answer means.
      default: kind === 'confirm' && preset === false ? undefined : preset,
    }
    return { question, value: await askCaller(asked, ctx) }
  } catch (thrown) {
    const error = toToolError(thrown)
    return error.code === 'ANSWER_REQUIRED'
      ? { question, nobody: true }
      : { question, error: error.toObject() }
  }
}

function emitLine(line: JsonObject, ctx: Context): void {
  const event = readEvent(line)
  const { type, message } = line
  if (event) emitEvent(event, ctx)
  else if (type === 'session_start' && typeof message === 'string' && message !== '')
    ctx.log(message)
}
