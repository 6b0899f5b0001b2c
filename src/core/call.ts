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
 * A call that has begun. `result` is set when it finished without waiting; else `onFinish` calls
 * its listener once.
 */
export type PendingCall = {
  readonly result: CallResult | undefined
  onFinish(react: (result: CallResult) => void): void
}

/** Anything that can cancel a call. */
export type CancelSignal = AbortSignal | Cancellation

/**
 * Cancels a call: an AbortSignal without events, cheap enough for one per request and for programs
 * that start for one call.
 */
export class Cancellation {
  /** Why it was cancelled; undefined until then. */
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

  /** The same as an AbortSignal, created on first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = (this.#controller = new AbortController())
      if (this.reason) controller.abort(this.reason)
      else this.onCancel(() => controller.abort(this.reason))
    }
    return this.#controller.signal
  }

  /** Calls `react` when it is cancelled; returns the function that stops that. */
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
 * The same tool under rules, which stay with it under any mount and name. Outer rules, and their
 * state, come before inner ones.
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

/** The options of a call under its rules: their guards come first and cannot be removed. */
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
 * The guards of a call without duplicates. Throws CONFIG for anything that is not a guard: it must
 * not count as one that agrees.
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

/** Tracks work that continues after its call was cancelled, most of it clean-up. */
export function trackBackground(work: Promise<unknown>): void {
  const forget = (): void => void backgroundWork.delete(work)
  backgroundWork.add(work)
  work.then(forget, forget)
}

/** Waits for all of that work, at most `longest` milliseconds. */
export async function waitForBackground(longest: number): Promise<void> {
  if (backgroundWork.size === 0) return
  const enough = new Promise((resolve) => setTimeout(resolve, longest, 'enough'))
  // Finished work may have started more, such as the clean-up of a generator.
  while (
    backgroundWork.size > 0 &&
    (await Promise.race([enough, Promise.allSettled([...backgroundWork])])) !== 'enough'
  )
    await Promise.resolve()
}

/** An id of eight characters: enough to pair a question with its answer. */
export function createShortId(): string {
  return toHex(Math.floor(Math.random() * 0x1_0000_0000), 8)
}

const ID_BATCH_SIZE = 0x1_0000
let idPrefix = ''
// A random start, so that the ids of two processes differ in all sixteen characters.
let nextId = Math.floor(Math.random() * ID_BATCH_SIZE)

/**
 * An id of sixteen characters for records. Ids of one process are consecutive: a random number per
 * id would cost a call as much as checking its input.
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
