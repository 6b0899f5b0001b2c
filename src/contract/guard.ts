import type { Annotations } from './manifest.ts'
import type { Ask } from './context.ts'
import type { Outcome } from './outcome.ts'
import type { State } from './state.ts'

/** A call that a guard looks at: its input is valid, its handler has not run. */
export type GuardedCall = {
  readonly tool: string
  readonly input: unknown
  /** The input as people and logs may see it: without what the tool's `redact` takes out. */
  readonly shown: unknown
  readonly annotations: Annotations
  readonly caller: string | undefined
  /** Nothing will be done, whatever the guard says. */
  readonly dryRun: boolean
  /** Where a guard keeps what it has to remember: it rolls back with the call. Throws CONFIG where the caller gave no state, so that the guard refuses. */
  readonly state: State
  readonly ask: Ask
  readonly signal: AbortSignal
}

/** Why a call may not happen, and what to do instead. */
export type Refusal = {
  readonly message: string
  /** Default PRECONDITION. */ readonly code?: string
  /** What to do first, or instead. */ readonly advice: string
  readonly details?: { readonly [key: string]: unknown }
}

/** Decides whether a call may happen. A guard that throws, or gives anything but a refusal or undefined, refuses. */
export type Guard = {
  readonly name: string
  /** Undefined: the call may happen. */
  check(call: GuardedCall): Refusal | undefined | Promise<Refusal | undefined>
  /** After a success, before anybody sees it; what it writes to the state belongs to the call. */
  passed?(call: GuardedCall, outcome: Outcome): void | Promise<void>
}

/** What a set of tools asks of every call of one of them, on every surface. */
export type Rules = {
  readonly guards: readonly Guard[]
  /** Where the calls work that bring no state of their own. */ readonly state?: State
}
