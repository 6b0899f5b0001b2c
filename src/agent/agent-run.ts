/**
 * The state of a running agent: conversation, token usage, budget, events, redaction and
 * transcript.
 */

import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { toToolError } from '../core/errors.ts'
import type { Redactor } from '../process/redaction.ts'
import { createRedactor, MIN_SECRET_LENGTH } from '../process/redaction.ts'
import type { Budget, TokenUsage } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { State } from '../protocol/state.ts'
import { reviveToolError, ToolError } from '../protocol/tool-error.ts'
import { SerialQueue } from '../util/async.ts'
import { hasErrorCode } from '../util/files.ts'
import { compact, isObject } from '../util/values.ts'
import type { AgentEvent, AgentMessage, AgentOptions, ToolResultMessage } from './types.ts'
import { getModelSecrets } from './types.ts'

/** The state of one run of an agent. */
export class AgentRun {
  readonly messages: AgentMessage[]
  readonly usage = { input: 0, output: 0 }
  turns = 0
  #broken: ToolError | undefined
  #spent: ToolError | undefined
  readonly #queue = new SerialQueue()
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
    // A shorter secret would match everywhere.
    const secrets = [...getModelSecrets(model), ...Object.values(call?.secrets ?? {})].filter(
      (secret) => secret.trim().length >= MIN_SECRET_LENGTH,
    )
    this.#redactor = createRedactor(secrets)
    this.messages = messages.map((message) => this.redact(message))
  }

  get signal(): AbortSignal {
    return this.resources.signal
  }

  /** Removes the key of the model and the secrets of the calls, for model, events and transcript. */
  redact<Value>(value: Value): Value {
    return this.#redactor.isEmpty ? value : (this.#redactor.value(value) as Value)
  }

  /** Adds a message to the conversation and to the transcript. */
  addMessage(message: AgentMessage): void {
    const redacted = this.redact(message)
    this.messages.push(redacted)
    this.recordMessage(redacted)
  }

  /** Adds a message to the transcript only, before the other calls of the reply have ended. */
  recordMessage(message: AgentMessage): void {
    this.resources.transcript?.write({ type: 'message', turn: this.turns, message })
  }

  /** Emits an event. A listener that fails does not disturb the current step, but ends the run after it. */
  emit(given: AgentEvent): void {
    // The messages of the end are redacted already.
    const event = given.type === 'end' ? given : this.redact(given)
    this.#record(event)
    try {
      const result: unknown = this.options.onEvent?.(event)
      if (result instanceof Promise) result.catch((error: unknown) => this.#break(error))
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

  /** Runs one task after another: a person gets one question at a time. */
  runExclusive<Result>(task: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(task)
  }

  /** Remembers a call that exceeded the budget, which ends the run. */
  trackOutcome(outcome: Outcome): void {
    if (this.resources.budget && !outcome.ok && outcome.error.code === 'E_BUDGET_EXCEEDED')
      this.#spent ??= reviveToolError(outcome.error)
  }

  /** The failure of a listener or of the transcript. */
  get problem(): ToolError | undefined {
    return this.#broken ?? this.resources.transcript?.problem
  }

  /** Throws the reason why the run cannot continue. */
  throwIfStopped(): void {
    this.signal.throwIfAborted()
    this.resources.budget?.check()
    const problem = this.#spent ?? this.problem
    if (problem) throw problem
  }

  // Without what the messages contain already.
  #record(event: AgentEvent): void {
    const { transcript } = this.resources
    if (!transcript || event.type === 'text' || event.type === 'tool_progress') return
    if (event.type === 'tool_result') {
      const { text: _text, outcome, ...rest } = event
      transcript.write({
        ...rest,
        ...compact({ code: outcome.ok ? undefined : outcome.error.code }),
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

const MESSAGE_ROLES = ['system', 'user', 'assistant', 'tool']

/** Throws INVALID_INPUT for an invalid conversation, which may come from a file. */
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
 * Orders a conversation so that the results of calls follow their reply, as providers require.
 * Unanswered calls get a failed result.
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
    const following = messages.slice(position, next === -1 ? undefined : next)
    const answers = following.filter((one) => one.role === 'tool')
    whole.push(
      ...message.calls.map(
        ({ id, name }) =>
          answers.find((answer) => answer.id === id) ?? createUnansweredResult(id, name, why),
      ),
      ...following.filter(({ role }) => role !== 'tool'),
    )
    position += following.length
  }
  return whole
}

/** The result of a call that was not answered. */
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
  const isCall = (call: unknown): boolean =>
    isObject(call) && typeof call['id'] === 'string' && typeof call['name'] === 'string'
  if (role === 'assistant' && !(Array.isArray(calls) && calls.every(isCall)))
    return "has no list of 'calls' with ids and names; an empty one, where the model called nothing"
  return role === 'tool' && typeof id !== 'string'
    ? "has no 'id' of the call that it answers"
    : undefined
}

/** The file with the messages and events of a run: one JSON object per line. */
type Transcript = {
  /** Writes synchronously, so that a crash loses nothing. */
  write(line: { readonly type: string; readonly [field: string]: unknown }): void
  /** Why the transcript is incomplete. */
  readonly problem: ToolError | undefined
  close(): void
}

/** Opens a transcript for appending, readable for its owner only. */
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
    // After a crash, the last line may be incomplete.
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

// Not recursive: node loops forever in folders such as /proc.
function ensureFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  }
}

function endsWithNewline(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(file, last, 0, 1, size - 1), last.toString() === '\n')
}
