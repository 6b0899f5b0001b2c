import type { Budget, TokenUsage } from '../../contract/budget.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { State } from '../../contract/state.ts'
import { ToolError, toolErrorFrom } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'
import { createRedactor } from '../../process/redaction/create-redactor.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'
import { SHORTEST_SECRET } from '../../process/redaction/variants.ts'
import type { AgentEvent, AgentOptions } from './agent-type.ts'
import type { AgentMessage } from './model-type.ts'
import { secretsOf } from './models/own-secrets.ts'
import type { Transcript } from './transcript.ts'

/** One run of an agent while it goes on. */
export class Work {
  readonly messages: AgentMessage[]
  readonly usage = { input: 0, output: 0 }
  turns = 0
  #broken: ToolError | undefined
  #spent: ToolError | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly #redactor: Redactor

  constructor(
    readonly options: AgentOptions,
    readonly parts: {
      readonly signal: AbortSignal
      readonly budget: Budget | undefined
      readonly state: State | undefined
      readonly transcript: Transcript | undefined
    },
    messages: readonly AgentMessage[],
  ) {
    const { model, call } = options
    // A shorter one would be found everywhere.
    const secrets = [...secretsOf(model), ...Object.values(call?.secrets ?? {})].filter(
      (secret) => secret.trim().length >= SHORTEST_SECRET,
    )
    this.#redactor = createRedactor(secrets)
    this.messages = messages.map((message) => this.hide(message))
  }

  get signal(): AbortSignal {
    return this.parts.signal
  }

  /** The same without the key of the model and the secrets of the calls: whatever a tool makes of them, model, events and record do not get it. */
  hide<Told>(told: Told): Told {
    return this.#redactor.isEmpty ? told : (this.#redactor.value(told) as Told)
  }

  /** Adds to the conversation, and to the record. */
  say(message: AgentMessage): void {
    const shown = this.hide(message)
    this.messages.push(shown)
    this.note(shown)
  }

  /** Adds to the record only: what is done is written down at once, also where others are waited for before it is said. */
  note(message: AgentMessage): void {
    this.parts.transcript?.write({ type: 'message', turn: this.turns, message })
  }

  /** Tells those who look on. Nothing that they do disturbs what is going on; the run ends after it. */
  tell(told: AgentEvent): void {
    // What the end tells has been told before.
    const event = told.type === 'end' ? told : this.hide(told)
    this.#record(event)
    try {
      const heard: unknown = this.options.onEvent?.(event)
      if (heard instanceof Promise) heard.catch((error: unknown) => this.#break(error))
    } catch (error) {
      this.#break(error)
    }
  }

  /** Counts what a turn has cost; throws E_BUDGET_EXCEEDED. */
  spend({ input = 0, output = 0 }: TokenUsage, estimated: boolean): void {
    this.usage.input += input
    this.usage.output += output
    this.tell({
      type: 'usage',
      turn: this.turns,
      usage: { input, output },
      total: { ...this.usage },
      ...(estimated && { estimated: true }),
    })
    this.parts.budget?.spend({ input, output })
  }

  /** Does one thing after the other: a person is asked one question at a time. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  /** Takes note of a call that was refused because nothing is left to spend: there will be no other. */
  notice(outcome: Outcome): void {
    if (this.parts.budget && !outcome.ok && outcome.error.code === 'E_BUDGET_EXCEEDED')
      this.#spent ??= toolErrorFrom(outcome.error)
  }

  /** What those who look on, or write it down, could not do. */
  get problem(): ToolError | undefined {
    return this.#broken ?? this.parts.transcript?.problem
  }

  /** Throws what forbids to go on. */
  check(): void {
    this.signal.throwIfAborted()
    this.parts.budget?.check()
    const problem = this.#spent ?? this.problem
    if (problem) throw problem
  }

  // What the messages have already is not said twice.
  #record(event: AgentEvent): void {
    const { transcript } = this.parts
    if (!transcript || event.type === 'text' || event.type === 'tool_progress') return
    if (event.type === 'tool_result') {
      const { text: _text, outcome, ...rest } = event
      transcript.write({
        ...rest,
        ...(!outcome.ok && { code: outcome.error.code }),
        duration_ms: outcome.meta.duration_ms,
      })
    } else if (event.type === 'end') {
      const { messages: _messages, ...result } = event.result
      transcript.write({ type: 'end', result })
    } else transcript.write(event)
  }

  #break(error: unknown): void {
    this.#broken ??= new ToolError(
      'INTERNAL',
      `onEvent of the agent failed: ${toToolError(error).message}`,
      { cause: error },
    )
  }
}
