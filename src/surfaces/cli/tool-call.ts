import type { InputOrigin } from '../../contract/errors.ts'
import type { Io } from '../../contract/io.ts'
import type { FlagSpec } from '../../define/flags/flag-spec.ts'
import type { Stopping } from '../../call/cancellation.ts'
import type { ToolEntry } from '../../call/collect.ts'
import type { Servable } from '../../call/servable.ts'
import type { Globals } from './argv/globals.ts'
import type { Caller } from './caller.ts'
import type { Presentation } from './mode.ts'
import type { Observer } from './observer.ts'
import type { RenderResult } from './output/format-options.ts'

/** One call of a tool from the command line, ready to be made. */
export type ToolCall = {
  readonly set: Servable
  readonly entry: ToolEntry
  readonly single: boolean
  readonly specs: readonly FlagSpec[]
  readonly input: unknown
  readonly origin: InputOrigin
  readonly secrets: { readonly [name: string]: string }
  readonly warnings: readonly string[]
  readonly globals: Globals
  readonly presentation: Presentation
  readonly caller: Caller | undefined
  readonly io: Io
  /** Ends it from outside. */
  readonly ending: Stopping
  readonly observer: Observer | undefined
  readonly timeout: string | undefined
  /** How a person sees the result. */
  readonly renderResult?: RenderResult
}
