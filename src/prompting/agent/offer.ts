import type { JsonObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { ExportedTool } from '../../contract/providers/forms.ts'
import { collectTools } from '../../call/collect.ts'
import type { ToolEntry } from '../../call/collect.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { lookupKey } from '../../define/names.ts'
import { loadEngine } from '../../call/load-engine.ts'
import type { CallOptions } from '../../call/options.ts'
import type { Servable } from '../../call/servable.ts'
import type { State } from '../../contract/state.ts'
import type { Entry } from '../../registry/entry.ts'
import { selectEntries } from '../../registry/filter.ts'
import { exportName, providerNames } from '../../registry/names.ts'
import { isServable } from '../../registry/sources/in-process.ts'
import type { AgentOptions } from './agent-type.ts'

/** What a model is offered in one turn. */
export type Offer = {
  readonly system: string | undefined
  readonly tools: readonly ExportedTool[]
  readonly names: readonly string[]
  /** By the name under which the model knows it. */
  find(name: string): OfferedTool | undefined
  /** The prompt that it stands in. */
  readonly promptName?: string
  /** Opens sections of that prompt, for the turns that follow. */
  open?(keys: readonly string[]): void
}

export type OfferedTool = {
  readonly entry: ToolEntry
  /** Throws only what ends a run, or opens sections. */
  call(input: JsonObject, options: CallOptions): Promise<Outcome>
}

/** Looks at what there is to offer, at the beginning of each turn. */
export type MakeOffer = () => Promise<Offer>

/** How an agent finds its tools and instructions. */
export function offerOf(
  { registry, tools, prompt, params, filter, system }: AgentOptions,
  state: State | undefined,
): MakeOffer {
  if (prompt) {
    return async () => {
      const rendered = await prompt.render(params as never, { ...(state && { state }) })
      const text = [system, rendered.text]
        .filter((part) => part !== undefined && part !== '')
        .join('\n\n')
      return {
        ...(await offered(rendered.tools, text, ({ name }, input, options) =>
          rendered.evaluate(name, input, options),
        )),
        promptName: rendered.name,
        open: (keys) => void (state && prompt.open(keys, state)),
      }
    }
  }
  const set = registry ?? (isServable(tools) ? tools : undefined)
  if (set)
    return async () => (
      await set.prepare?.(),
      offered(
        registry ? selectEntries(registry.entries as readonly Entry[], filter) : set.entries,
        system,
        callIn(set),
      )
    )
  const entries = distinct(collectTools(tools as never))
  return () =>
    offered(
      entries,
      system,
      async ({ definition, identity }, input, options) =>
        (await (await loadEngine()).invoke(definition, input, options, identity)).outcome,
    )
}

// A toolset has looked already, and a registry gives every tool a name of its own.
function distinct(entries: readonly ToolEntry[]): readonly ToolEntry[] {
  const names = new Set<string>()
  for (const { name } of entries) {
    if (names.has(lookupKey(name)))
      throw new ToolError('CONFIG', `two tools of the agent are called '${name}'`, {
        suggestion: `Rename one: tools: { other_${name}: tool }`,
      })
    names.add(lookupKey(name))
  }
  return entries
}

type CallEntry = (entry: ToolEntry, input: JsonObject, options: CallOptions) => Promise<Outcome>

// An id always means this very tool; a toolset has only names.
function callIn(set: Servable): CallEntry {
  return (entry, input, options) =>
    set.call((entry as Partial<Entry>).id ?? entry.name, input, options)
}

async function offered(
  entries: readonly ToolEntry[],
  system: string | undefined,
  call: CallEntry,
): Promise<Offer> {
  const byName = providerNames(entries)
  return {
    system: system === '' ? undefined : system,
    tools: await Promise.all(
      entries.map(async ({ name, definition }) => ({
        name: exportName(name),
        manifest: (await definition.compiled()).manifest,
      })),
    ),
    names: [...byName.keys()],
    find(name) {
      const entry = byName.get(name)
      return entry && { entry, call: (input, options) => call(entry, input, options) }
    },
  }
}
