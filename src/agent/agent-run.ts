/**
 * The state of a running agent: conversation, token usage, budget, events, redaction and
 * transcript.
 */

import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { toToolError } from '../core/errors.ts'
import { createRedactor, MIN_SECRET_LENGTH } from '../process/redaction.ts'
import type { Redactor } from '../process/redaction.ts'
import type { Budget, TokenUsage } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { State } from '../protocol/state.ts'
import { reviveToolError, ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import { getModelSecrets } from './types.ts'
import type { AgentEvent, AgentMessage, AgentOptions } from './types.ts'

/** One run of an agent while it goes on. */
export class AgentRun {
  readonly messages: AgentMessage[]
  readonly usage = { input: 0, output: 0 }
  turns = 0
  #broken: ToolError | undefined
  #spent: ToolError | undefined
  #turn: Promise<unknown> = Promise.resolve()
  readonly #redactor: Redactor

  constructor(
    readonly options: AgentOptions,
    readonly resources: {
      readonly signal: AbortSignal
      readonly budget: Budget | undefined
      readonly state: State | undefined
      readonly transcript: Transcript | undefined
    },
    messages: readonly AgentMessage[],
  ) {
    const { model, call } = options
    // A shorter one would be found everywhere.
    const secrets = [...getModelSecrets(model), ...Object.values(call?.secrets ?? {})].filter(
      (secret) => secret.trim().length >= MIN_SECRET_LENGTH,
    )
    this.#redactor = createRedactor(secrets)
    this.messages = messages.map((message) => this.redact(message))
  }

  get signal(): AbortSignal {
    return this.resources.signal
  }

  /**
   * The same without the key of the model and the secrets of the calls: whatever a tool makes of
   * them, model, events and record do not get it.
   */
  redact<Told>(told: Told): Told {
    return this.#redactor.isEmpty ? told : (this.#redactor.value(told) as Told)
  }

  /** Adds to the conversation, and to the record. */
  addMessage(message: AgentMessage): void {
    const shown = this.redact(message)
    this.messages.push(shown)
    this.recordMessage(shown)
  }

  /**
   * Adds to the record only: what is done is written down at once, also where others are waited for
   * before it is said.
   */
  recordMessage(message: AgentMessage): void {
    this.resources.transcript?.write({ type: 'message', turn: this.turns, message })
  }

  /**
   * Tells those who look on. Nothing that they do disturbs what is going on; the run ends after it.
   */
  emit(told: AgentEvent): void {
    // What the end tells has been told before.
    const event = told.type === 'end' ? told : this.redact(told)
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
    this.emit(
      compact({
        type: 'usage',
        turn: this.turns,
        usage: { input, output },
        total: { ...this.usage },
        estimated: estimated || undefined,
      }),
    )
    this.resources.budget?.spend({ input, output })
  }

  /** Does one thing after the other: a person is asked one question at a time. */
  runExclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  /**
   * Takes note of a call that was refused because nothing is left to spend: there will be no other.
   */
  trackOutcome(outcome: Outcome): void {
    if (this.resources.budget && !outcome.ok && outcome.error.code === 'E_BUDGET_EXCEEDED')
      this.#spent ??= reviveToolError(outcome.error)
  }

  /** What those who look on, or write it down, could not do. */
  get problem(): ToolError | undefined {
    return this.#broken ?? this.resources.transcript?.problem
  }

  /** Throws what forbids to go on. */
  throwIfStopped(): void {
    this.signal.throwIfAborted()
    this.resources.budget?.check()
    const problem = this.#spent ?? this.problem
    if (problem) throw problem
  }

  // What the messages have already is not said twice.
  #record(event: AgentEvent): void {
    const { transcript } = this.resources
    if (!transcript || event.type === 'text' || event.type === 'tool_progress') return
    if (event.type === 'tool_result') {
      const { text: _text, outcome, ...rest } = event
      transcript.write({
        ...rest,
        ...compact({ code: !outcome.ok ? outcome.error.code : undefined }),
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

type ToolResultMessage = Extract<AgentMessage, { role: 'tool' }>

const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool']

/**
 * Refuses what is no conversation, with the place: it may come from a file that somebody wrote.
 * Throws INVALID_INPUT.
 */
export function validateMessages(messages: readonly unknown[]): void {
  messages.forEach((message, index) => {
    const problem = findMessageProblem(message)
    if (problem !== undefined)
      throw new ToolError('INVALID_INPUT', `message ${index + 1} of the conversation ${problem}`, {
        field: 'task',
        suggestion:
          "Messages are { role: 'user', text }, { role: 'assistant', text, calls: [] } and { role: 'tool', id, name, text }, as a result has them",
      })
  })
}

/**
 * The conversation with an answer to every call right behind it, in the order of the calls:
 * providers refuse any other. What nobody answered is told as failed, and why.
 */
export function completeToolResults(
  messages: readonly AgentMessage[],
  why: string,
): AgentMessage[] {
  const whole: AgentMessage[] = []
  let position = 0
  while (position < messages.length) {
    const message = messages[position]!
    position += 1
    whole.push(message)
    if (message.role !== 'assistant' || message.calls.length === 0) continue
    const next = messages.findIndex(({ role }, index) => index >= position && role === 'assistant')
    const behind = messages.slice(position, next === -1 ? undefined : next)
    const answers = behind.filter((one) => one.role === 'tool')
    whole.push(
      ...message.calls.map(
        ({ id, name }) =>
          answers.find((answer) => answer.id === id) ?? createUnansweredResult(id, name, why),
      ),
      ...behind.filter(({ role }) => role !== 'tool'),
    )
    position += behind.length
  }
  return whole
}

/** What a model is told about a call that nobody answered. */
export function createUnansweredResult(id: string, name: string, why: string): ToolResultMessage {
  return {
    role: 'tool',
    id,
    name,
    text: JSON.stringify({
      error: {
        code: 'CANCELLED',
        message: `the call was not made, or not to its end: the run ended before (${why})`,
      },
    }),
    failed: true,
  }
}

function findMessageProblem(message: unknown): string | undefined {
  if (!isObject(message)) return 'is no object'
  const { role, text, calls, id } = message
  if (!MESSAGE_ROLES.includes(String(role)))
    return `has the role ${JSON.stringify(role) ?? 'undefined'}; there are ${MESSAGE_ROLES.join(', ')}`
  if (typeof text !== 'string') return 'has no text'
  if (
    role === 'assistant' &&
    !(
      Array.isArray(calls) &&
      calls.every(
        (call) =>
          isObject(call) && typeof call['id'] === 'string' && typeof call['name'] === 'string',
      )
    )
  )
    return "has no list of 'calls' with ids and names; an empty one, where the model called nothing"
  return role === 'tool' && typeof id !== 'string'
    ? "has no 'id' of the call that it answers"
    : undefined
}

/** The record of a run: one JSON object a line. */
type Transcript = {
  /** Written at once, so that a crash loses nothing. */
  write(line: { readonly type: string; readonly [field: string]: unknown }): void
  /** Why the record is not whole. */
  readonly problem: ToolError | undefined
  close(): void
}

/** Opens a record for its owner only; what stands in it already stays. */
export function openTranscript(path: string): Transcript {
  const fail = (error: unknown): ToolError => {
    const { code, message } = toToolError(error)
    return new ToolError(code, `the transcript ${path} cannot be written: ${message}`, {
      cause: error,
    })
  }
  let problem: ToolError | undefined
  let file: number | undefined
  try {
    ensureFolder(dirname(path))
    file = openSync(path, 'a+', 0o600)
    // A line that was torn by a crash must not swallow the next one.
    if (!endsWithNewline(file)) appendFileSync(file, '\n')
  } catch (error) {
    problem = fail(error)
  }
  return {
    write(line) {
      if (file === undefined || problem) return
      try {
        appendFileSync(file, `${JSON.stringify({ ts: new Date().toISOString(), ...line })}\n`)
      } catch (error) {
        problem = fail(error)
      }
    },
    get problem() {
      return problem
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

// Not recursive: node looks for ever for a place in folders where nothing can be made, such as
// /proc.
function ensureFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(file, last, 0, 1, size - 1), last.toString() === '\n')
}
