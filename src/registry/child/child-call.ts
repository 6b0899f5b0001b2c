/**
 * How a tool of another process is called, cold or warm. Plain data: the cache keeps it.
 */

import type { Context, ReadingContext } from '../../protocol/context.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import type { JsonObject } from '../../util/values.ts'
import type { CheckedFile } from '../cache.ts'

/** How input goes to a program and how its answer comes back. */
export type CallForm =
  /** The input as one JSON argument (by stdin where it is too large for one). */
  | 'json'
  /** Each field a flag: `_` becomes `-`, true is the bare flag, false is left out. */
  | 'flags'
  /** The input as one JSON document on stdin. */
  | 'stdin'
  /** Flags in, the JSON lines of the run protocol out. */
  | 'protocol'
  /** A toolable executable: warm where it can be. */
  | 'toolable'
  /** An ordinary program, by what its help says. */
  | 'program'

/** How a tool of another process is called. Plain data: the cache keeps it. */
export type ChildCall = {
  readonly form: CallForm
  /** Program and fixed arguments: interpreter, script, the name of the tool. */
  readonly command: readonly [program: string, ...args: string[]]
  /** Where it runs; default: the caller's directory. */
  readonly cwd?: string
  /** Variables besides the base allow-list. `${NAME}` was replaced already. */
  readonly env?: { readonly [name: string]: string }
  /** Variables of the caller's environment that have to be there. */
  readonly requireEnv?: readonly string[]
  /** What exit statuses mean, by the manifest: `{ok: 0, retryable_error: 20, fatal_error: 30}`. */
  readonly exitCodes?: { readonly [meaning: string]: number }
  /**
   * It takes its input as one JSON document on stdin too: `json` without an argument, `toolable` by
   * `-` (our own executables do, those of the specification do not).
   */
  readonly stdin?: true
  /**
   * The input holds secrets, so that it never stands on a command line, where every user of the
   * machine can read it.
   */
  readonly secret?: true
  /**
   * For `toolable`: the name of the tool inside the executable, and whether it can be kept warm.
   */
  readonly tool?: string
  readonly warm?: boolean
  /**
   * For `toolable`: the tool asks for consent, which the caller has given when it comes to a call.
   */
  readonly destructive?: true
  /**
   * For `toolable` executables of the specification: a tool that streams has to be asked for its
   * stream.
   */
  readonly streaming?: true
  /** For `program`. */
  readonly program?: ProgramForm
}

/** Calls tools of executables that are kept running. */
export type WarmCaller = {
  /**
   * The outcome as the executable tells it, its events told to `ctx` meanwhile; undefined where it
   * cannot be kept warm, so that it is called cold. Throws ToolErrors.
   */
  call(
    call: ChildCall,
    input: JsonObject,
    ctx: Context,
    looked?: CheckedFile,
  ): Promise<Outcome | undefined>
}

/** What calls of other processes share, given by the registry. */
export type ChildServices = {
  readonly warm?: WarmCaller
  /**
   * Children that are not over yet. A cancelled call is answered at once, while its child may still
   * be ending: whoever closes waits for these.
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
  /** The value follows as an argument of its own; otherwise `--flag=value`. */
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
  /**
   * The file behind it, where the command does not name it; a change of it means another program.
   */
  readonly executable?: string
  /**
   * Where it runs. Programs read files beside them, so that each directory has a process of its
   * own.
   */
  readonly cwd: string
  /**
   * The environment of the caller, of which it gets the base allow-list; default: that of the pool.
   */
  readonly host?: { readonly [name: string]: string | undefined }
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

/** What a request is made for: tools get more than resources and prompts. */
export type WarmContext = ReadingContext &
  Partial<
    Pick<Context, 'progress' | 'artifact' | 'item' | 'plan' | 'deadline' | 'dryRun' | 'verbose'>
  >

/** How a pool is kept; times are in milliseconds. */
export type WarmSettings = {
  /** The environment of the host, for calls that bring none. */
  readonly env: { readonly [name: string]: string | undefined }
  /** A program that nobody calls for so long is ended. Default 60 seconds. */
  readonly idleMs: number
  /** Processes at the same time. Default 8. */
  readonly maxProcesses: number
  /** Calls at the same time in one process, before a second one is started. Default 64. */
  readonly maxCallsPerProcess: number
  /** How long a program may take until it says that it serves. Default 10 seconds. */
  readonly startTimeoutMs: number
  /**
   * A program that was left alone for so long is asked whether it is well before it is called.
   * Default 10 seconds.
   */
  readonly healthCheckMs: number
  /**
   * How long a program may take to react: to that question, to a cancelled call, to its end.
   * Default 5 seconds.
   */
  readonly reactionTimeoutMs: number
}

/** A program cannot be kept running: it is to be called cold. */
export class WarmUnavailable extends Error {
  override readonly name = 'WarmUnavailable'
}
