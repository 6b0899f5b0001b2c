import type { Answerer } from '../contract/interaction.ts'
import type { RunEvent } from '../contract/run-state.ts'
import type { Registry } from '../registry/registry-type.ts'
import type { RunOptions } from './make-request.ts'
import type { RunSummary } from '../views/model/summary/summary.ts'

export type RunnerOptions = {
  readonly registry: Registry
  /** Where runs are recorded; default: `.runs` beside the configuration. */
  readonly folder?: string
  /** Runs at the same time; others are queued. Default: four for each core. */
  readonly concurrency?: number
  /** Answers the questions of tools; without it a question waits for `toolable answer`. */
  readonly answer?: Answerer
  /** What relative paths mean; default: the directory of the process. */
  readonly cwd?: string
  /** The environment of the host; default: that of the process. Tools get the few variables of the allow-list. */
  readonly env?: { readonly [name: string]: string | undefined }
}

/** What a tool is given: arguments as on the command line, or its input. */
export type RunInput =
  { readonly args: readonly string[] } | { readonly input: { readonly [field: string]: unknown } }

/** A run that was started. */
export type RunHandle = {
  readonly id: string
  /** Its folder. */
  readonly folder: string
  /** How it ended. Never rejects for what a tool does; rejects where the run cannot be recorded. */
  readonly done: Promise<RunSummary>
  cancel(reason?: string): void
  /** Its record from the beginning, as it grows, until it is over. */
  events(): AsyncIterable<RunEvent>
}

/** Runs tools on record. */
export type Runner = {
  /** Starts a run, or queues it. Throws NOT_FOUND for an unknown tool, and what is wrong with its input. */
  start(tool: string, given: RunInput, options?: RunOptions): Promise<RunHandle>
  /** Cancels what runs and waits for its end. */
  close(): Promise<void>
}
