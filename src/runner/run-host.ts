import type { JsonObject } from '../contract/json.ts'
import type { Registry } from '../registry/registry-type.ts'
import type { StartSubject } from './attempt/subject.ts'
import type { AnswerChannel } from './interactions/broker.ts'

/** What stands around a run: who answers, who listens, who may end it. */
export type RunHost = {
  readonly env: { readonly [name: string]: string | undefined }
  /** For tools that are no programs. */
  readonly registry?: Pick<Registry, 'call'>
  /** What is run where it is neither a program nor a tool of the registry: a workflow. */
  readonly start?: StartSubject
  /** What `runner_start` says besides. */
  readonly about?: JsonObject
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
