import type { Builtin } from '../surfaces/builtin/builtin.ts'
import type { RenderResult } from '../surfaces/cli/output/format-options.ts'

/** A command of the program `toolable`: a tool, and what the command line adds to it. */
export type ToolableCommand = Builtin & {
  /** How a person sees the result; default: the general form. Late, because agents do not need it. */
  readonly text?: () => Promise<RenderResult>
  /** A person sees in the result what the events would say; only programs get both. */
  readonly tellsAll?: true
  /** The exit status of a result; default 0. */
  readonly exit?: (result: unknown) => number
}
