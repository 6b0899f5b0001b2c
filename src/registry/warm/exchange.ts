/**
 * The lines between a warm program and us: greeting, requests, questions, events and results.
 */

import { toToolError } from '../../core/errors.ts'
import { onCancelled } from '../../core/lifecycle.ts'
import type { Context, DecisionQuestion } from '../../protocol/context.ts'
import { readOutcome } from '../../protocol/dialects/read-outcome.ts'
import type { Interaction } from '../../protocol/events.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import { SERVE_PROTOCOL_VERSION } from '../../protocol/output-protocols.ts'
import type { ServeAnswer, ServeCallOptions } from '../../protocol/output-protocols.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import { WarmUnavailable } from '../child/child-call.ts'
import type { WarmCall, WarmContext } from '../child/child-call.ts'
import { emitEvent, readEvent, readSampling } from '../child/events.ts'

/** What an exchange needs of the program that it is with. */
type ExchangeLine = {
  /** Sends a line about this exchange. */
  say(fields: string): void
  /** Nobody waits for the result any more; the program is told. */
  abandoned(): void
}

/** One request and all that is said about it until its result. */
export class WarmExchange {
  readonly result: Promise<Outcome>
  /** The request was handed to the program. */
  sent = false
  #settle!: (outcome: Outcome) => void
  #refuse!: (error: Error) => void
  #stopListening: () => void = () => undefined
  /** Nobody waits for it any more. */
  over = false

  constructor(
    readonly what: string,
    readonly ctx: WarmContext,
    readonly line: ExchangeLine,
  ) {
    this.result = new Promise((settle, refuse) => {
      this.#settle = settle
      this.#refuse = refuse
    })
    this.#stopListening = onCancelled(ctx, (reason) => {
      this.fail(reason)
      line.abandoned()
    })
  }

  /** Takes a line of the program about this exchange; true when it was the last one. */
  take(line: JsonObject): boolean {
    if (line['type'] === 'result') {
      this.#end(line)
      return true
    }
    if (this.over) return false
    if (line['type'] === 'question') void this.#ask(line['question'])
    else emitLine(line, this.ctx)
    return false
  }

  fail(error: Error): void {
    if (this.over) return
    this.#close()
    this.#refuse(error)
  }

  #end(line: JsonObject): void {
    if (this.over) return
    this.#close()
    const outcome = readResult(line, this.what)
    if (outcome) this.#settle(outcome)
    else
      this.#refuse(
        new ToolError('DEPENDENCY', `${this.what}: the program gave something that is no result`),
      )
  }

  async #ask(question: unknown): Promise<void> {
    const answer: ServeAnswer | undefined =
      isObject(question) && typeof question['id'] === 'string'
        ? await answerServeQuestion(question, this.ctx)
        : undefined
    if (answer && !this.over) this.line.say(`"answer":${JSON.stringify(answer)}`)
  }

  #close(): void {
    this.over = true
    this.#stopListening()
  }
}

// Most results are plain: they are taken as they are.
function readResult(line: JsonObject, what: string): Outcome | undefined {
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
  const outcome = readOutcome(document, { tool: what })
  if (!outcome?.meta.artifacts) return outcome
  // They were told when they were made.
  const { artifacts: _told, ...rest } = outcome.meta
  return { ...outcome, meta: rest }
}

const RARE_FIELDS = ['message', 'hidden', 'content']

const MAX_STRAY_LINES = 1000

/** The first line of a program, which says that it serves, and the wait for it. */
export class ServeGreeting {
  /** Resolves when it came; rejects with WarmUnavailable when it does not come any more. */
  readonly heard: Promise<void>
  came = false
  #settle!: () => void
  #refuse!: (error: WarmUnavailable) => void
  #strays = 0
  readonly #slow: NodeJS.Timeout

  /** `giveUp` is called when it did not come in time. */
  constructor(
    milliseconds: number,
    readonly giveUp: () => void,
  ) {
    this.heard = new Promise((settle, refuse) => {
      this.#settle = settle
      this.#refuse = refuse
    })
    // Those who wait for it hear of it; whether anybody does, nobody knows.
    this.heard.catch(() => undefined)
    this.#slow = setTimeout(
      () => this.#stop(`it did not say within ${milliseconds / 1000} seconds that it serves`),
      milliseconds,
    )
  }

  /**
   * Takes a line of the program. What a library prints before it can be stopped is no reason to
   * give up, a flood of it is.
   */
  take(line: JsonObject | undefined): void {
    if (line?.['serve'] === SERVE_PROTOCOL_VERSION) {
      clearTimeout(this.#slow)
      this.came = true
      this.#settle()
    } else if (++this.#strays === MAX_STRAY_LINES)
      this.#stop('it says many other things instead of serving')
  }

  /** It will not come any more. */
  fail(why: string): void {
    clearTimeout(this.#slow)
    this.#refuse(new WarmUnavailable(why))
  }

  #stop(why: string): void {
    this.fail(why)
    this.giveUp()
  }
}

type QueuedLine = { readonly line: string; readonly exchange: WarmExchange | undefined }

/**
 * Lines on their way to a program: the first leaves at once, and what comes while the pipe is busy
 * leaves together.
 */
export class LineOutbox {
  #waiting: QueuedLine[] = []
  #busy = false

  /**
   * `write` gives undefined where nothing can be written: what was not sent may go to another
   * process.
   */
  constructor(readonly write: (lines: string) => Promise<boolean> | undefined) {}

  /** Sends a line; its exchange is told when it has left. */
  send(line: string, exchange?: WarmExchange): void {
    this.#waiting.push({ line, exchange })
    if (!this.#busy) this.#flush()
  }

  /** Takes back a request that has not left. */
  drop(exchange: WarmExchange): void {
    this.#waiting = this.#waiting.filter((waiting) => waiting.exchange !== exchange)
  }

  #flush(): void {
    this.#busy = false
    if (this.#waiting.length === 0) return
    const batch = this.#waiting
    const taken = this.write(
      batch.length === 1 ? batch[0]!.line : batch.map(({ line }) => line).join('\n'),
    )
    if (!taken) return
    this.#waiting = []
    for (const { exchange } of batch) if (exchange) exchange.sent = true
    this.#busy = true
    void taken.then(() => this.#flush())
  }
}

/** The line of a call, without id and braces. Throws INVALID_INPUT for what JSON cannot carry. */
export function formatCallFields({ tool, input, confirmed }: WarmCall, ctx: WarmContext): string {
  return `"call":${JSON.stringify(tool)}${formatInputField(input)}${formatOptionsField(ctx, confirmed)}`
}

/** The line that reads a resource. */
export function formatResourceFields(uri: string, ctx: WarmContext): string {
  return `"resource":${JSON.stringify(uri)}${formatOptionsField(ctx)}`
}

/** The line that renders a prompt. */
export function formatPromptFields(name: string, input: unknown, ctx: WarmContext): string {
  return `"prompt":${JSON.stringify(name)}${formatInputField(input)}${formatOptionsField(ctx)}`
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

function formatOptionsField(
  { deadline, dryRun, caller, verbose }: WarmContext,
  confirm?: boolean,
): string {
  const options: ServeCallOptions = compact({
    timeout: deadline ? Math.max(0.001, deadline.remaining()) : undefined,
    dry_run: dryRun ? true : undefined,
    confirm: confirm ? true : undefined,
    caller,
    verbose: verbose !== undefined && verbose > 0 ? verbose : undefined,
  })
  const text = JSON.stringify(options)
  return text === '{}' ? '' : `,"options":${text}`
}

/**
 * Asks whoever made the call what the program asks, and gives the line that answers. Never throws.
 */
async function answerServeQuestion(given: JsonObject, ctx: WarmContext): Promise<ServeAnswer> {
  const question = given['id'] as string
  try {
    return { question, value: await askCaller(given as unknown as Interaction, ctx) }
  } catch (thrown) {
    const error = toToolError(thrown)
    return error.code === 'ANSWER_REQUIRED'
      ? { question, nobody: true }
      : { question, error: error.toObject() }
  }
}

function askCaller(
  { kind, prompt: words, options, schema, default: standard, timeout, key, sampling }: Interaction,
  ctx: WarmContext,
): Promise<unknown> {
  const prompt = String(words)
  const common = compact({ prompt, timeout, key })
  // With nobody there, a default of no would read as somebody's no; the program knows itself what
  // that means.
  const shown =
    standard === undefined || (kind === 'confirm' && standard === false)
      ? {}
      : { default: standard as never }
  if (kind === 'sample')
    return ctx.sample(prompt, { ...readSampling(sampling), ...compact({ key }) })
  if (kind === 'confirm') return ctx.ask({ ...common, kind, ...shown })
  if (kind === 'decision')
    return ctx.ask({
      ...common,
      kind,
      options: Array.isArray(options) ? options : [],
      ...shown,
    } as DecisionQuestion)
  return ctx.ask({ ...common, kind: 'input', ...compact({ schema }), ...shown })
}

/**
 * Tells the caller what a line of the program tells. Who reads a resource or a prompt hears log
 * messages only.
 */
function emitLine(line: JsonObject, ctx: WarmContext): void {
  const event = readEvent(line)
  if (event && (ctx.progress || event.type === 'log')) emitEvent(event, ctx as Context)
  else if (
    line['type'] === 'session_start' &&
    typeof line['message'] === 'string' &&
    line['message'] !== ''
  )
    ctx.log(line['message'])
}
