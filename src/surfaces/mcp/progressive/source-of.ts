import type { Servable } from '../../../call/servable.ts'
import { toolsetSource } from '../source.ts'
import type { McpSource } from '../source.ts'
import { progressiveSource } from './progressive-source.ts'

export type ServeOptions = {
  /** Lists three tools for finding and running the others; default: when there are more than thirty. */
  readonly progressive?: boolean
}

const MANY_TOOLS = 30

/** What is served of a toolset. */
export function sourceOf(
  set: Servable,
  { progressive = set.entries.length > MANY_TOOLS }: ServeOptions,
): McpSource {
  const source = toolsetSource(set)
  return progressive ? progressiveSource(source) : source
}
