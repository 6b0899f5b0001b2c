/**
 * What every part of the program knows about a call: its options, its result, how it is cancelled,
 * the rules a toolset adds to it, and work it leaves in the background.
 *
 * Every start loads this file, so it imports nothing that only a call needs.
 */

import type { ToolDefinition } from '../define/tool-types.ts'
import type { CallOptions, CallRules, Guard } from '../protocol/context.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { State } from '../protocol/state.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'

export type { CallOptions } from '../protocol/context.ts'

/** How a server makes a call: it may cancel without the cost of an AbortSignal. */
export type ServerCallOptions = CallOptions & {
  readonly cancellation?: CancelSignal
  /** Its events are heard, its record is not: no `tool_invoked`. */ readonly unrecorded?: true
}

/**
 * Which toolset a call belongs to; `tool` is the whole name of the tool where it is not put
 * together of toolset and tool.
 */
export type CallIdentity = {
  readonly toolset?: string
  readonly version?: string
  readonly tool?: string
}

/**
 * A finished call: the outcome that travels, and the value or error for callers in this process.
 */
export type CallResult = {
  readonly outcome: Outcome
  readonly value?: unknown
  readonly error?: ToolError
}

/**
 * A call that has begun: finished already where there was nothing to wait for, else `whenFinished`
 * tells, once.
 */
export type PendingCall = {
  readonly result: CallResult | undefined
  onFinish(react: (result: CallResult) => void): void
}

/** Whatever says that something shall end. */
export type CancelSignal = AbortSignal | Cancellation

/**
 * What ends a call from outside: an AbortSignal without its events, for servers that make one for
 * every request and for programs that start for one call.
 */
export class Cancellation {
  /** Why it was cancelled; undefined as long as it was not. */
  reason: Error | undefined
  #reactions: Set<() => void> | undefined
  #controller: AbortController | undefined

  get aborted(): boolean {
    return this.reason !== undefined
  }

  /** Cancels; the first reason counts. */
  cancel(reason: Error): void {
    if (this.reason) return
    this.reason = reason
    const reactions = this.#reactions
    this.#reactions = undefined
    for (const react of reactions ?? []) react()
  }

  /** The same as an AbortSignal, for those who need one. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = (this.#controller = new AbortController())
      if (this.reason) controller.abort(this.reason)
      else this.onCancel(() => controller.abort(this.reason))
    }
    return this.#controller.signal
  }

  /** Calls `react` when it is cancelled; gives the function that stops it. */
  onCancel(react: () => void): () => void {
    const reactions = (this.#reactions ??= new Set())
    reactions.add(react)
    return () => void reactions.delete(react)
  }
}

/**
 * The rules of a toolset or registry; undefined where it has none. Throws CONFIG for what is no
 * guard.
 */
export function createRules({
  guards,
  state,
}: {
  readonly guards?: readonly Guard[]
  readonly state?: State
}): CallRules | undefined {
  return guards === undefined && state === undefined
    ? undefined
    : compact({ guards: validateGuards(guards ?? []), state })
}

/**
 * The same tool under rules, which stay with it wherever it is mounted and whatever it is called
 * there. Rules around come before those inside, and so does their state.
 */
export function withRules(definition: ToolDefinition, rules: CallRules): ToolDefinition {
  return {
    ...definition,
    rules: definition.rules
      ? { ...definition.rules, ...rules, guards: [...rules.guards, ...definition.rules.guards] }
      : rules,
    withName: (name) => withRules(definition.withName(name), rules),
  }
}

/**
 * How a call is made under rules: their guards come first, and the caller cannot take them away.
 */
export function applyRules(
  { rules }: ToolDefinition,
  options: ServerCallOptions,
): ServerCallOptions {
  if (!rules) return options
  const { guards = [] } = options
  return {
    ...compact({ state: rules.state }),
    ...options,
    guards: Array.isArray(guards) ? [...rules.guards, ...(guards as readonly Guard[])] : guards,
  }
}

/**
 * The guards of a call, each once, however often it is named. Throws CONFIG for what is no guard:
 * it must not count as one that agrees.
 */
export function validateGuards(given: readonly Guard[]): readonly Guard[] {
  if (!Array.isArray(given))
    throw new ToolError(
      'CONFIG',
      'guards must be a list: { guards: [guards.rate({ calls: 10, per: 60 })] }',
    )
  const guards =
    given.length === 1 ? (given as readonly Guard[]) : [...new Set(given as readonly Guard[])]
  for (const guard of guards)
    if (typeof guard?.check !== 'function')
      throw new ToolError(
        'CONFIG',
        'guards holds something that cannot decide: make it with guard({ name, check }), or take one of guards',
      )
  return guards
}

const backgroundWork = new Set<Promise<unknown>>()

/** Keeps in mind what goes on after its call was ended from outside: most of it tidies up. */
export function trackBackground(work: Promise<unknown>): void {
  const forget = (): void => void backgroundWork.delete(work)
  backgroundWork.add(work)
  work.then(forget, forget)
}

/** Waits until all of it has come to its end, but no longer than so many milliseconds. */
export async function waitForBackground(longest: number): Promise<void> {
  if (backgroundWork.size === 0) return
  const enough = new Promise((resolve) => setTimeout(resolve, longest, 'enough'))
  // What has ended may have left something behind itself, such as the end of a generator.
  while (
    backgroundWork.size > 0 &&
    (await Promise.race([enough, Promise.allSettled([...backgroundWork])])) !== 'enough'
  )
    await Promise.resolve()
}

/** An id of eight characters, unique enough to pair a question with its answer. */
export function createShortId(): string {
  return toHex(Math.floor(Math.random() * 0x1_0000_0000), 8)
}

const ID_BATCH_SIZE = 0x1_0000
let idPrefix = ''
// Begun anywhere, so that two processes differ in all sixteen characters.
let nextId = Math.floor(Math.random() * ID_BATCH_SIZE)

/**
 * An id of sixteen characters for what is kept. Those of one process follow each other: to draw
 * each of them would cost a call as much as its check of the input.
 */
export function createLongId(): string {
  if (idPrefix === '' || nextId === ID_BATCH_SIZE)
    idPrefix = toHex(Math.floor(Math.random() * 0x1_0000_0000_0000), 12)
  if (nextId === ID_BATCH_SIZE) nextId = 0
  return idPrefix + toHex(nextId++, 4)
}

function toHex(number: number, length: number): string {
  return number.toString(16).padStart(length, '0')
}

/** The form of a name under which it is looked up: '-' and '_' are equal. */
export function toLookupKey(name: string): string {
  return name.replaceAll('-', '_')
}
