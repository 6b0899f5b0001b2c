import type { Registry } from '../registry/registry-type.ts'
import type { AnswerChannel } from './interactions/broker.ts'

/** What stands around a run: who answers, who listens, who may end it. */
export type RunHost = {
  readonly env: { readonly [name: string]: string | undefined }
  /** For tools that are no programs. */
  readonly registry?: Pick<Registry, 'call'>
  /** Who may answer, besides what the request itself brings. */
  readonly channels: readonly AnswerChannel[]
  /** Gets whole lines of the log as soon as they are safe. A promise holds the tool back. */
  readonly onWritten?: (lines: string) => void | Promise<void>
  /** Cancels the run. */
  readonly signal: AbortSignal
  /** Secrets that were given by stdin: they are in no file. */
  readonly secrets?: { readonly [name: string]: string }
  /** Who asked for this attempt, where it is not the first. */
  readonly resumedBy?: 'resume'
}
