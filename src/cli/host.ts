/**
 * Types shared by everything that runs a command: the process around it, the observer of a test,
 * and one call that is ready to run.
 */

import type { Cancellation, CancelSignal } from '../core/call.ts'
import type { Servable, ToolEntry } from '../core/tool.ts'
import type { FlagSpec } from '../define/global-flags.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Interaction, ToolEvent } from '../protocol/events.ts'
import type { Io } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { DialectName } from '../protocol/output-protocols.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import type { Caller } from './caller.ts'
import type { ResultRenderer } from './formats/envelope.ts'
import type { OutputMode } from './formats/table.ts'
import type { GlobalFlags } from './global-flags.ts'
import type { Presentation } from './presentation.ts'
import type { Toolset, ToolsetOptions } from './toolset-types.ts'

/**
 * How a server lives in its process: it outlives what its handlers do, and a signal that stops it
 * is no failure.
 */
export type ServerLifecycle = {
  /** Told of an error that a handler left unhandled. */
  onCrash(error: ToolError): void
  /** Milliseconds that it may take to stop after a signal; then the process dies. */
  readonly shutdownTimeoutMs: number
  /**
   * Where a signal does not cancel but leaves the work for later: why it ends, with the exit status
   * of the signal in its details, and how long that may take. Undefined where it cancels.
   */
  leave?(
    signal: string,
    status: number,
  ): { readonly error: ToolError; readonly shutdownTimeoutMs: number } | undefined
}

/** How a process was started, so that others can be told to start the program too. */
export type StartInfo = {
  /** The interpreter. */
  readonly execPath: string
  readonly execArgv: readonly string[]
  /** What the interpreter runs; undefined where nobody knows. */
  readonly script: string | undefined
  /** Arguments that belong to the start: what makes the script the program that it is now. */
  readonly args?: readonly string[]
}

/** What stands around a command. */
export type CommandHost = {
  readonly signal: AbortSignal
  /** The same without the cost of a signal, of a process that makes one call and ends. */
  readonly ending?: Cancellation
  readonly started: StartInfo
  /**
   * Puts up the guards of a process that runs tools; they are costly, so they are put up only then.
   */
  prepareForTools(redirectStrayOutput: () => void, serving?: ServerLifecycle): void
  /**
   * Makes the toolset that built-in commands belong to: the command line itself cannot import what
   * imports it.
   */
  makeToolset(options: ToolsetOptions): Toolset
  readonly observer?: CommandObserver
}

/** In which form an outcome was printed. */
export type OutcomeForm = {
  readonly mode: OutputMode
  readonly dialect: DialectName
  /** Events stand before it, one a line. */
  readonly streamed: boolean
}

/** Sees what a command line does while it does it. */
export type CommandObserver = {
  onEvent(event: ToolEvent): void
  /** Somebody at stdin is asked now: in words at a terminal, or by a JSON line. */
  onQuestion(question: Interaction, how: 'words' | 'line'): void
  onOutcome(outcome: Outcome, form: OutcomeForm): void
}

/** One call of a tool from the command line, ready to be made. */
export type CliCall = {
  readonly set: Servable
  readonly entry: ToolEntry
  readonly single: boolean
  readonly specs: readonly FlagSpec[]
  readonly input: unknown
  readonly origin: InputOrigin
  readonly secrets: { readonly [name: string]: string }
  readonly warnings: readonly string[]
  readonly globals: GlobalFlags
  readonly presentation: Presentation
  readonly caller: Caller | undefined
  readonly io: Io
  /** Ends it from outside. */
  readonly ending: CancelSignal
  readonly observer: CommandObserver | undefined
  readonly timeout: string | undefined
  /** How a person sees the result. */
  readonly renderResult?: ResultRenderer
}
