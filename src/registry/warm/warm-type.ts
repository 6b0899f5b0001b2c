import type { Context, ReadingContext } from '../../contract/context.ts'

/** A program that can be kept running. */
export type WarmTarget = {
  /** Program and fixed arguments, without `--serve`. */
  readonly command: readonly [program: string, ...args: string[]]
  /** The file behind it, where the command does not name it; a change of it means another program. */
  readonly executable?: string
  /** Where it runs. Programs read files beside them, so that each directory has a process of its own. */
  readonly cwd: string
  /** The environment of the caller, of which it gets the base allow-list; default: that of the pool. */
  readonly host?: { readonly [name: string]: string | undefined }
  /** Variables besides these. */
  readonly env?: { readonly [name: string]: string }
}

/** A call of one of its tools. */
export type WarmCall = WarmTarget & {
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
  readonly idle: number
  /** Processes at the same time. Default 8. */
  readonly most: number
  /** Calls at the same time in one process, before a second one is started. Default 64. */
  readonly share: number
  /** How long a program may take until it says that it serves. Default 10 seconds. */
  readonly start: number
  /** A program that was left alone for so long is asked whether it is well before it is called. Default 10 seconds. */
  readonly check: number
  /** How long a program may take to react: to that question, to a cancelled call, to its end. Default 5 seconds. */
  readonly react: number
}

/** A program cannot be kept running: it is to be called cold. */
export class WarmUnavailable extends Error {
  override readonly name = 'WarmUnavailable'
}
