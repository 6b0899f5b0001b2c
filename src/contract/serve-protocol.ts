import type { Duration } from './duration.ts'
import type { ToolEvent } from './events.ts'
import type { Interaction } from './interaction.ts'
import type { ErrorObject, Outcome } from './outcome.ts'

/** The version of the lines that `--serve` speaks. docs/serve-protocol.md is the page about them. */
export const SERVE_VERSION = 1

/** Names a request. */
export type ServeId = number | string

/** How a call is made. */
export type ServeOptions = {
  readonly timeout?: Duration
  readonly dry_run?: boolean
  /** Consent to a destructive tool: true is given, false is not; absent: a question asks for it. */
  readonly confirm?: boolean
  readonly caller?: string
  readonly cwd?: string
  readonly idempotency_key?: string
  readonly verbose?: number
  /** Variables besides those of the process. */
  readonly env?: { readonly [name: string]: string }
}

/** The answer to a question; without value and error, nobody is there to answer. */
export type ServeAnswer = {
  readonly question: string
  readonly value?: unknown
  readonly error?: ErrorObject
  readonly nobody?: true
}

/** A line to the program. */
export type ServeRequest =
  | {
      readonly id: ServeId
      readonly call: string
      readonly input?: unknown
      readonly options?: ServeOptions
    }
  | { readonly id: ServeId; readonly resource: string; readonly options?: ServeOptions }
  | {
      readonly id: ServeId
      readonly prompt: string
      readonly input?: unknown
      readonly options?: ServeOptions
    }
  | { readonly id: ServeId; readonly cancel: true }
  | { readonly id: ServeId; readonly answer: ServeAnswer }
  | { readonly ping: number }

/** A line of the program, the first one apart: that is `ServeHello`. */
export type ServeLine =
  | ({ readonly id: ServeId } & (
      | ToolEvent
      | { readonly type: 'question'; readonly question: Interaction }
      | ({ readonly type: 'result' } & Outcome)
    ))
  /** About a line that could not be understood. */
  | { readonly type: 'error'; readonly error: ErrorObject }
  | { readonly pong: number }

/** The first line of the program. */
export type ServeHello = {
  readonly serve: typeof SERVE_VERSION
  readonly name: string
  readonly version: string
}
