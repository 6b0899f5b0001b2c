import type { Outcome } from '../contract/outcome.ts'
import type { ToolError } from '../contract/tool-error.ts'

/** Which toolset a call belongs to; `tool` is the whole name of the tool where it is not put together of toolset and tool. */
export type Identity = {
  readonly toolset?: string
  readonly version?: string
  readonly tool?: string
}

/** A finished call: the outcome that travels, and the value or error for callers in this process. */
export type Finished = {
  readonly outcome: Outcome
  readonly value?: unknown
  readonly error?: ToolError
}

/** A call that has begun: finished already where there was nothing to wait for, else `whenFinished` tells, once. */
export type Begun = {
  readonly finished: Finished | undefined
  whenFinished(react: (finished: Finished) => void): void
}
