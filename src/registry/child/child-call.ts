/**
 * How a tool of another process is called, cold or warm. Plain data: the cache keeps it.
 */

import type { ChildOptions } from '../../process/child.ts'
import type { HostEnv } from '../../process/environment.ts'
import type { Context } from '../../protocol/context.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import type { JsonObject } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'

/** How input goes to a program and how its answer comes back. */
export const CALL_FORMS = [
  /** The input as one JSON argument (by stdin where it is too large for one). */
  'json',
  /** Each field a flag: `_` becomes `-`, true is the bare flag, false is left out. */
  'flags',
  /** The input as one JSON document on stdin. */
  'stdin',
  /** Flags in, the JSON lines of the run protocol out. */
  'protocol',
  /** A toolable executable: warm where it can be. */
  'toolable',
  /** An ordinary program, by what its help says. */
  'program',
] as const
export type CallForm = (typeof CALL_FORMS)[number]

/** How a tool of another process is called. Plain data: the cache keeps it. */
export type ChildCall = {
  readonly form: CallForm
  /** Program and fixed arguments: interpreter, script, the name of the tool. */
  readonly command: readonly [program: string, ...args: string[]]
  /** Where it runs; default: the caller's directory. */
  readonly cwd?: string
  /** Variables besides the base allow-list. `${NAME}` was replaced already. */
  readonly env?: { readonly [name: string]: string }
  /** Variables that the caller's environment must have. */
  readonly requireEnv?: readonly string[]
  /** What exit statuses mean, by the manifest: `{ok: 0, retryable_error: 20, fatal_error: 30}`. */
  readonly exitCodes?: { readonly [meaning: string]: number }
  /**
   * It takes its input as one JSON document on stdin too: `json` without an argument, `toolable` by
   * `-` (our own executables do, those of the specification do not).
   */
  readonly stdin?: true
  /**
   * The input has secrets, so it never becomes an argument, which every user of the machine can
   * read.
   */
  readonly secret?: true
  /**
   * For `toolable`: the name of the tool inside the executable, and whether it can be kept warm.
   */
  readonly tool?: string
  readonly warm?: boolean
  /** For `toolable`: the tool asks for consent, which the caller gave before the call. */
  readonly destructive?: true
  /** For `toolable` executables of the specification: the tool streams only with `--stream`. */
  readonly streaming?: true
  /** For `program`. */
  readonly program?: ProgramForm
}

/** What the child of a tool gets whose manifest confines it. */
export type ConfinedOptions = Pick<
  ChildOptions,
  'cwd' | 'env' | 'sandbox' | 'maxStdout' | 'maxLine' | 'grace'
>

/** Calls tools of executables that are kept running. */
export type WarmCaller = {
  /**
   * The outcome that the executable reports; its events are emitted on `ctx`. Undefined where it
   * cannot be kept warm and has to be called cold. Throws ToolErrors.
   */
  call(
    call: ChildCall,
    input: JsonObject,
    ctx: Context,
    checked?: CheckedFile,
  ): Promise<Outcome | undefined>
}

/** What calls of other processes share, given by the registry. */
export type ChildServices = {
  readonly warm?: WarmCaller
  /**
   * Children that still run. A cancelled call returns while its child may still be exiting, so
   * closing the registry waits for these.
   */
  readonly running?: Set<Promise<unknown>>
}

/** How one input field of an ordinary program becomes arguments. */
export type ProgramField = {
  readonly field: string
  /** The flag as it is written, dashes included; absent for positional arguments. */
  readonly flag?: string
  /** The flag that says false: `--no-color`. */
  readonly negative?: string
  readonly takesValue: boolean
  /** The value may be left out, and is attached where it is given; `true` is the bare flag. */
  readonly valueOptional?: true
  /** The value is a separate argument; otherwise `--flag=value`. */
  readonly separate?: true
  /** The flag, or the positional argument, may come several times. */
  readonly repeatable?: true
  /** All values follow one flag: `--files a b c`. */
  readonly together?: true
}

/** How the input of an ordinary program becomes arguments, so that no value can become a flag. */
export type ProgramForm = {
  readonly fields: readonly ProgramField[]
  /**
   * The program has flags like `-name`: such programs seldom know `--`, so that a positional
   * argument with a dash is refused.
   */
  readonly noEndOfFlags?: true
  /**
   * There is one order of positional arguments: one that is left out cannot be followed by another.
   */
  readonly ordered?: true
}

/** A program that can be kept running. */
export type WarmProgramSpec = {
  /** Program and fixed arguments, without `--serve`. */
  readonly command: readonly [program: string, ...args: string[]]
  /** Where it runs. Programs read files beside them, so each directory has its own process. */
  readonly cwd: string
  /** The caller's environment; the program gets the base allow-list. Default: the pool's. */
  readonly host?: HostEnv
  /** Variables besides these. */
  readonly env?: { readonly [name: string]: string }
}

/** A call of one of its tools. */
export type WarmCall = WarmProgramSpec & {
  readonly tool: string
  readonly input: unknown
  /** Consent to a destructive tool was asked for already; otherwise the tool asks by `ctx.ask`. */
  readonly confirmed?: boolean
}

/** The limits of a pool; times are in milliseconds. */
export type WarmSettings = {
  /** The environment of the host, for calls without one. */
  readonly env: HostEnv
  /** A program that is idle for this long is stopped. Default 60 seconds. */
  readonly idleMs: number
  /** Processes at the same time. Default 8. */
  readonly maxProcesses: number
  /** Calls at the same time in one process before a second one is started. Default 64. */
  readonly maxCallsPerProcess: number
  /** How long a program may take until it prints its greeting. Default 10 seconds. */
  readonly startTimeoutMs: number
  /** A program that was idle for this long is pinged before a call. Default 10 seconds. */
  readonly healthCheckMs: number
  /** How long it may take to react to a ping, a cancelled call or its end. Default 5 seconds. */
  readonly reactionTimeoutMs: number
}

/** A program cannot be kept running and has to be called cold. */
export class WarmUnavailable extends Error {
  override readonly name = 'WarmUnavailable'
}
