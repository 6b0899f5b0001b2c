/**
 * The types of the command line: a toolset, the process around a command, a built-in command, and
 * one call that is ready to run.
 */

import type { Cancellation, CancelSignal } from '../core/call.ts'
import type { Servable, ToolEntry, ToolTree } from '../core/provider.ts'
import type { AnyTool } from '../core/tool.ts'
import type { FlagSpec, GlobalFlags } from '../define/global-flags.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { Guard } from '../protocol/context.ts'
import type { DialectName } from '../protocol/dialects/dialects.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Interaction, ToolEvent } from '../protocol/events.ts'
import type { Io } from '../protocol/io.ts'
import type { Outcome } from '../protocol/outcome.ts'
import type { State } from '../protocol/state.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import type { ResultRenderer } from './formats/envelope.ts'
import type { OutputMode } from './formats/table.ts'
import type { Presentation } from './presentation.ts'

export type { ChangeListener, OutputDefault, ToolsetChange } from '../core/provider.ts'

export type ToolsetOptions = Servable['options'] & {
  /** The program's name: 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  /** Default `0.1.0`. */
  readonly version?: string
  readonly tools?: ToolTree
  readonly resources?: readonly Resource[]
  readonly prompts?: readonly Prompt[]
  /** Decide about every call of its tools, on every surface, before the guards of the caller. */
  readonly guards?: readonly Guard[]
  /**
   * Where its calls work that bring no state of their own; default: each call has one for itself.
   */
  readonly state?: State
}

/** A toolset of the functions that a module exports, besides what else is named. */
export type ModuleToolsetOptions = Omit<ToolsetOptions, 'name'> & {
  /**
   * The module: `import.meta` of the calling module, an address, a path, or the name of a package.
   */
  readonly module: ImportMeta | URL | string
  /** Default: as the module or its package is called. */
  readonly name?: string
  /**
   * Refuse `any` as an input, and every export that looks like a tool and cannot be one; default
   * false.
   */
  readonly strict?: boolean
}

/** Tools, resources and prompts under one name: a program, and a unit for every other surface. */
export type Toolset = Servable & {
  readonly options: ToolsetOptions
  /** Adds a tool, under another name if one is given. */
  add(tool: AnyTool, name?: string): Toolset
  addResource(resource: Resource): Toolset
  addPrompt(prompt: Prompt): Toolset
  /**
   * Removes a tool, by any spelling that finds it; running calls continue. False when there is none.
   */
  remove(name: string): boolean
  /** Takes out the resource of an address pattern. */
  removeResource(uri: string): boolean
  removePrompt(name: string): boolean
  /** Notifies subscribers that the resource at an address has changed. */
  resourceChanged(uri: string): void
  /**
   * Runs the command line and ends the process. With `import.meta`: only when that file is the
   * program's entry point.
   */
  run(entry?: ImportMeta): Promise<void>
}

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

/** How a process was started, so that others can start the program too. */
export type StartInfo = {
  /** The interpreter. */
  readonly execPath: string
  readonly execArgv: readonly string[]
  /** What the interpreter runs; undefined where that is unknown. */
  readonly script: string | undefined
  /** Arguments that belong to the start: what makes the script the program that it is now. */
  readonly args?: readonly string[]
}

/** The process around a command. */
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
  /** Events precede it, one a line. */
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
  readonly io: Io
  /** Ends it from outside. */
  readonly ending: CancelSignal
  readonly observer: CommandObserver | undefined
  readonly timeout: string | undefined
  /** How a person sees the result. */
  readonly renderResult?: ResultRenderer
}

/**
 * What a command that owns stdin and stdout works with. `set` is the author's toolset, not the one
 * that the command belongs to.
 */
export type BuiltinContext = {
  readonly set: Servable
  readonly io: Io
  readonly host: CommandHost
  readonly globals: GlobalFlags
}

/**
 * A command that every program has, written as a tool: flags, help, completion and `--json` come
 * with it.
 */
export type BuiltinCommand = {
  /** The words that name it: `['docs']`, or `['mcp', 'add']`. */
  readonly path: readonly string[]
  readonly tool: AnyTool
  /**
   * With it the command owns stdin and stdout and gives the exit status; the tool's own `run` is
   * not used. The input is checked before.
   * A command that runs handlers calls `host.prepareForTools` itself. Where it gives no status, the
   * tool's own `run` answers after all.
   */
  readonly start?: (input: unknown, context: BuiltinContext) => Promise<number | undefined>
}

/**
 * What a feature folder exports from its `commands.ts`: the commands that it gives to a program, as
 * it was started.
 */
export type BuiltinFactory = (set: Servable, host: CommandHost) => readonly BuiltinCommand[]
