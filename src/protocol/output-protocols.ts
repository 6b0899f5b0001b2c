/**
 * The forms in which a program answers its caller: the output dialects of one call, and the JSON
 * lines of `--serve` (docs/serve-protocol.md).
 *
 * The native dialect is ours; each of the others follows one specification exactly. Every dialect
 * has one file in `dialects/` and one line in `dialects/dialects.ts`. `dialects/read-outcome.ts` is
 * the way back: it recognizes an outcome in any dialect.
 */

import type { Interaction, ToolEvent } from './events.ts'
import type { Duration } from './limits.ts'
import type { ErrorObject, Outcome } from './outcome.ts'

/** What a writer needs to know about the call. */
export type DialectContext = {
  readonly tool: string
  readonly runId: string
  readonly traceId?: string | undefined
  /** The present time in ISO 8601. */
  readonly now: () => string
  /** The input as it may be shown, secrets removed. */
  readonly input?: unknown
}

/**
 * How a call is told to its caller. Each function gives JSON values, one per line or document;
 * undefined means that this dialect says nothing there.
 */
export type DialectWriter = {
  /** True where every call is a stream of lines, asked for or not. */
  readonly alwaysStreams: boolean
  /** Everything to print for a finished call that was not streamed; usually one document. */
  outcome(outcome: Outcome, context: DialectContext): readonly unknown[]
  /** The end of a streamed call, after its events. */
  streamEnd(outcome: Outcome, context: DialectContext): readonly unknown[]
  /** The first line of a stream. */
  start(context: DialectContext): object | undefined
  /** A line for something that the tool tells while it works. */
  event(event: ToolEvent, context: DialectContext): object | undefined
  /** A line that shows that the tool is alive. */
  heartbeat(context: DialectContext): object | undefined
  /** A line that asks the caller something. */
  question(question: Interaction, context: DialectContext): object | undefined
  /** What stderr carries besides, so that a failure is readable there too. */
  errorLine(error: ErrorObject): object | undefined
}

/**
 * The version of the lines that `--serve` speaks. docs/serve-protocol.md is the page about them.
 */
export const SERVE_PROTOCOL_VERSION = 1

/** Names a request. */
export type ServeRequestId = number | string

/** How a call is made. */
export type ServeCallOptions = {
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
