import type { ToolError } from '../../contract/tool-error.ts'
import type { Cancellation } from '../../call/cancellation.ts'
import type { Toolset, ToolsetOptions } from '../toolset-type.ts'
import type { Observer } from './observer.ts'

/** How a server lives in its process: it outlives what its handlers do, and a signal that stops it is no failure. */
export type Serving = {
  /** Told of an error that a handler left unhandled. */
  onCrash(error: ToolError): void
  /** Milliseconds that it may take to stop after a signal; then the process dies. */
  readonly farewell: number
  /** Where a signal does not cancel but leaves the work for later: why it ends, with the exit status of the signal in its details, and how long that may take. Undefined where it cancels. */
  leave?(
    signal: string,
    status: number,
  ): { readonly error: ToolError; readonly farewell: number } | undefined
}

/** How a process was started, so that others can be told to start the program too. */
export type Started = {
  /** The interpreter. */
  readonly execPath: string
  readonly execArgv: readonly string[]
  /** What the interpreter runs; undefined where nobody knows. */
  readonly script: string | undefined
  /** Arguments that belong to the start: what makes the script the program that it is now. */
  readonly args?: readonly string[]
}

/** What stands around a command. */
export type Host = {
  readonly signal: AbortSignal
  /** The same without the cost of a signal, of a process that makes one call and ends. */
  readonly ending?: Cancellation
  readonly started: Started
  /** Puts up the guards of a process that runs tools; they are costly, so they are put up only then. */
  prepareForTools(redirectStrayOutput: () => void, serving?: Serving): void
  /** Makes the toolset that built-in commands belong to: the command line itself cannot import what imports it. */
  makeToolset(options: ToolsetOptions): Toolset
  readonly observer?: Observer
}
