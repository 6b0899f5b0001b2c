import type { Context } from '../../contract/context.ts'
import type { JsonObject } from '../../contract/json.ts'
import { defineTool } from '../../define/tool.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'
import type { ForeignFacts } from '../found.ts'
import { distinctFlags } from './distinct-flags.ts'
import { summaryOf } from './summary.ts'

const ANYTHING = { type: 'object', additionalProperties: true } as const

/** Runs a tool of somebody else: gives its result, `ok(...)` or `partial(...)`, or throws a ToolError. */
export type ForeignRun = (input: JsonObject, ctx: Context) => unknown

/** The definition of a tool that somebody else described. Throws CONFIG where the description cannot be used. */
export function defineForeign(name: string, facts: ForeignFacts, run: ForeignRun): ToolDefinition {
  const { inputSchema, outputSchema, summary: _summary, ...rest } = facts
  const flags = { ...distinctFlags(inputSchema), ...facts.flags }
  return defineTool({ ...rest, ...(Object.keys(flags).length > 0 && { flags }), name, summary: summaryOf(name, facts), input: inputSchema ?? ANYTHING, ...(outputSchema && { output: outputSchema }), run })
}
