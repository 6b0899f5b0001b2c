/**
 * One request of `--serve` while it runs: its events, questions and result.
 */

import { Cancellation } from '../core/call.ts'
import type { CallOptions, ServerCallOptions } from '../core/call.ts'
import { onAbort } from '../core/lifecycle.ts'
import type { Interaction, SampleRequest, ToolEvent, ToolInvokedEvent } from '../protocol/events.ts'
import type { ErrorObject, Outcome } from '../protocol/outcome.ts'
import type { ServeRequestId } from '../protocol/output-protocols.ts'
import { reviveToolError, ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { LineWriter } from './server.ts'

const MAX_LINE_CHARS = 64 * 1024 * 1024

type ClientAnswer = { readonly value: unknown } | { readonly error: unknown } | 'nobody'

/**
 * One request while it is worked on: carries its events, questions and result to whoever sent it.
 */
export class ServedRequest {
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

  /** From here on there is nobody to answer. */
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
      // A conversation that had begun is over; one that never began has nobody to talk to.
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
