import type { ToolEvent } from '../events.ts'
import type { Interaction } from '../interaction.ts'
import type { ErrorObject, Outcome } from '../outcome.ts'

/** The forms in which a call can be answered: our own, which is the default, and the exact one of each specification. */
export const DIALECT_NAMES = ['native', 'toolable', 'tooli', 'acor', 'simple'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** What a writer needs to know about the call. */
export type DialectContext = {
  readonly tool: string
  readonly runId: string
  readonly traceId?: string
  /** The present time in ISO 8601. */
  readonly now: () => string
  /** The input as it may be shown, secrets removed. */
  readonly input?: unknown
}

/** How a call is told to its caller. Each function gives JSON values, one per line or document; undefined means that this dialect says nothing there. */
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
