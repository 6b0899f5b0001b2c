import type { Outcome } from '../contract/outcome.ts'
import type { ToolError } from '../contract/tool-error.ts'

/** Which toolset a call belongs to. */
export type Identity = { readonly toolset?: string; readonly version?: string }

/** A finished call: the outcome that travels, and the value or error for callers in this process. */
export type Finished = { readonly outcome: Outcome; readonly value?: unknown; readonly error?: ToolError }
