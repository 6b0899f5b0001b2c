import type { Context } from '../../contract/context.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { defineTool } from '../../define/tool.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'
import type { LookedAt } from '../cache/stamp.ts'
import type { ForeignFacts } from '../found.ts'
import { keepNotes } from './notes.ts'
import { summaryOf } from './summary.ts'
import { tameFacts } from './tame-facts.ts'
import { tameFlags } from './tame-flags.ts'
import { tameInput, tameOutput } from './tame-schema.ts'

const MOST_NOTES = 20

/** Runs a tool of somebody else: gives its result, `ok(...)` or `partial(...)`, or throws a ToolError. `looked` is its program, where that was looked at right before. */
export type ForeignRun = (input: JsonObject, ctx: Context, looked?: LookedAt) => unknown

/** The definition of a tool that somebody else described. The description may be anything: what cannot be used is left out or left open, and told to `onNote`. Throws CONFIG only for a name that is not valid. */
export function defineForeign(
  name: string,
  facts: ForeignFacts,
  run: ForeignRun,
  onNote: (note: string) => void = () => undefined,
): ToolDefinition {
  const given: { readonly [fact: string]: unknown } = isObject(facts) ? facts : {}
  const told = new Set<string>()
  const note = (text: string): void => {
    if (told.has(text) || told.size >= MOST_NOTES) return
    told.add(text)
    onNote(text)
  }
  const input = tameInput(given['inputSchema'], note)
  const output = tameOutput(given['outputSchema'], note)
  const tamed = tameFacts(given, input)
  const definition = defineTool(
    {
      ...tamed,
      ...tameFlags(input, given),
      name,
      summary: summaryOf(name, given),
      reserved: false,
      input,
      ...(output && { output }),
      run,
    },
    { isPassedOn: true },
  )
  keepNotes(definition, [...told])
  return definition
}
