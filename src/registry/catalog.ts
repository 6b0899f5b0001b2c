/**
 * Merges what all sources found: the stronger tier gets the bare name, every tool keeps its id.
 * Definitions are made on first use.
 */

import { toLookupKey, withRules } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import type { ToolEntry } from '../core/provider.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import { defineTool } from '../define/tool.ts'
import { hasPolicies, loadPolicies } from '../process/load-policies.ts'
import type { CallRules, Context } from '../protocol/context.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, once } from '../util/values.ts'
import {
  assignEntryNames,
  getNotes,
  setNotes,
  toDistinctName,
  toValidName,
  toValidNames,
} from './names.ts'
import type { FoundTool, LoadedSource, Problem } from './source.ts'
import { joinLoaded, TIERS } from './source.ts'

/** Everything that all sources found, under names that mean one thing each. */
export type Catalog = {
  /** What a list needs. */
  readonly listed: readonly EntryParts[]
  /** The same, ready for calls. */
  readonly entries: readonly RegistryEntry[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /** Grows when an entry turns out to be unusable. */
  readonly problems: Problem[]
  find(name: string): RegistryEntry | undefined
}

type SourceNames = { readonly source: string; readonly names: ReadonlyMap<string, string> }

type PlacedTool = {
  readonly id: string
  readonly bare: string
  readonly found: FoundTool
  /** Who has the bare name. */
  readonly owner: PlacedTool | undefined
}

/**
 * Merges what the sources found: the stronger tier gets the bare name, the others keep their ids.
 * `rules` are those of the whole registry.
 */
export function buildCatalog(loaded: readonly LoadedSource[], rules?: CallRules): Catalog {
  const { tools, resources, prompts, problems: found } = joinLoaded(loaded)
  const problems = [...found]
  const report = (problem: Problem): void => void problems.push(problem)
  const byTier = TIERS.flatMap((tier) => tools.filter((tool) => tool.tier === tier))
  const listed = assignNames(assignIds(byTier, report))
  const entries = once(() => listed.map((parts) => createEntry(parts, report, rules)))
  const index = once(() => indexEntries(entries()))
  return {
    listed,
    get entries() {
      return entries()
    },
    resources: uniqueResources(resources, report),
    prompts: uniquePrompts(prompts),
    problems,
    find: (name) => index()(name),
  }
}

function assignIds(
  tools: readonly FoundTool[],
  report: (problem: Problem) => void,
): readonly PlacedTool[] {
  const byId = new Map<string, PlacedTool>()
  const owners = new Map<string, PlacedTool>()
  const sources = nameToolsBySource(tools)
  for (const found of tools) {
    const { source, names } = sources.get(found.source)!
    const bare = names.get(found.name)!
    const id = `${source}.${bare}`
    const same = byId.get(id)
    if (same?.found.name === found.name) {
      report(
        toDuplicateProblem(
          found,
          `two tools of '${found.source}' are called '${found.name}'; the one ${describeLocation(same.found)} is used`,
        ),
      )
      continue
    }
    if (same) {
      const distinct = toDistinctName(bare, found.name)
      const distinctId = `${source}.${distinct}`
      byId.set(distinctId, { id: distinctId, bare: distinct, found, owner: undefined })
      continue
    }
    const key = toLookupKey(bare)
    const owner = owners.get(key)
    const placed = { id, bare, found, owner }
    byId.set(id, placed)
    if (!owner) owners.set(key, placed)
    else if (owner.found.tier === found.tier)
      report(
        toDuplicateProblem(
          found,
          `'${found.name}' is also a tool of '${owner.found.source}'; the bare name means that one, and this one is '${id}'`,
        ),
      )
  }
  return [...byId.values()]
}

// The names of a source's tools do not depend on their order. Sources with the same valid name
// share them.
function nameToolsBySource(tools: readonly FoundTool[]): ReadonlyMap<string, SourceNames> {
  const sources = new Map<string, string>()
  const given = new Map<string, string[]>()
  for (const { source, name } of tools) {
    let valid = sources.get(source)
    if (valid === undefined) {
      sources.set(source, (valid = toValidName(source)))
      if (!given.has(valid)) given.set(valid, [])
    }
    given.get(valid)!.push(name)
  }
  const names = new Map(Array.from(given, ([valid, foreign]) => [valid, toValidNames(foreign)]))
  return new Map(
    Array.from(sources, ([source, valid]) => [source, { source: valid, names: names.get(valid)! }]),
  )
}

// Usually nothing is shadowed, and every tool keeps its own name.
function assignNames(placed: readonly PlacedTool[]): readonly EntryParts[] {
  const shadowed = placed.filter(({ owner }) => owner !== undefined)
  if (shadowed.length === 0) return placed.map(({ id, bare, found }) => ({ id, name: bare, found }))
  const inView = [...placed.filter(({ owner }) => owner === undefined), ...shadowed]
  const named = assignEntryNames(
    inView.map((tool) => ({
      ...tool,
      source: tool.found.source,
      shadowed: tool.owner !== undefined,
    })),
  )
  return Array.from(named, ([name, { id, found, owner }]) =>
    compact({ id, name, found, shadowedBy: owner?.id }),
  )
}

function indexEntries(entries: readonly RegistryEntry[]): Catalog['find'] {
  const names = new Map(entries.map((entry) => [toLookupKey(entry.name), entry]))
  const ids = new Map(entries.map((entry) => [entry.id, entry]))
  for (const entry of entries)
    if (!ids.has(toLookupKey(entry.id))) ids.set(toLookupKey(entry.id), entry)
  const byId = (id: string): RegistryEntry | undefined => ids.get(id) ?? ids.get(toLookupKey(id))
  return (name) => {
    const dot = name.indexOf('.')
    return (
      names.get(toLookupKey(name)) ??
      byId(name) ??
      names.get(toLookupKey(toValidName(name))) ??
      (dot === -1
        ? undefined
        : byId(`${toValidName(name.slice(0, dot))}.${toValidName(name.slice(dot + 1))}`))
    )
  }
}

function toDuplicateProblem(found: FoundTool, message: string): Problem {
  return {
    source: found.source,
    location: found.location ?? found.name,
    reason: 'duplicate',
    message,
    fix: 'Rename one of them, or leave one out',
    severity: 'warning',
  }
}

function describeLocation({ location }: FoundTool): string {
  return location === undefined ? 'found first' : `at ${location}`
}

function uniqueResources(
  resources: readonly Resource[],
  report: (problem: Problem) => void,
): readonly Resource[] {
  const byAddress = new Map<string, Resource>()
  for (const resource of resources) {
    const { uri } = resource.manifest
    if (byAddress.has(uri))
      report({
        source: 'resources',
        location: uri,
        reason: 'duplicate',
        message: `two sources have the resource '${uri}'; the first is read`,
        fix: 'Change the address of one',
        severity: 'warning',
      })
    else byAddress.set(uri, resource)
  }
  return [...byAddress.values()]
}

// A prompt has no tier: the first keeps its name.
function uniquePrompts(prompts: readonly Prompt[]): readonly Prompt[] {
  const byName = new Map<string, Prompt>()
  for (const [index, prompt] of prompts.entries()) {
    const isTaken = byName.has(toLookupKey(prompt.name))
    const name = isTaken ? toDistinctName(prompt.name, String(index)) : prompt.name
    byName.set(toLookupKey(name), isTaken ? renamePrompt(prompt, name) : prompt)
  }
  return [...byName.values()]
}

function renamePrompt(prompt: Prompt, name: string): Prompt {
  return { ...prompt, name, manifest: async () => ({ ...(await prompt.manifest()), name }) }
}

/**
 * A tool of a registry. `name` is what it is served and exported under, `id` always means this very
 * tool.
 */
export type RegistryEntry = ToolEntry & {
  readonly id: string
  readonly found: FoundTool
  /** The id of the tool that the bare name means. */
  readonly shadowedBy?: string
}

/** What an entry is made of. */
export type EntryParts = {
  readonly id: string
  readonly name: string
  readonly found: FoundTool
  readonly shadowedBy?: string
}

/**
 * Creates an entry whose definition is made on first use. What cannot be defined is reported, and
 * fails when it is called.
 */
function createEntry(
  { id, name, found, shadowedBy }: EntryParts,
  onProblem: (problem: Problem) => void,
  rules?: CallRules,
): RegistryEntry {
  const define = once((): ToolDefinition => {
    try {
      const made = found.define(name, id)
      const isGoverned =
        found.tier === 'in-process' || found.composed || made.metadata.permissions !== undefined
      const governed = isGoverned ? made : enforcePolicies(made, id)
      return rules ? keepNotes(withRules(governed, rules), governed) : governed
    } catch (thrown) {
      const error = toToolError(thrown)
      onProblem({
        source: found.source,
        location: found.location ?? id,
        reason: 'unusable',
        message: `'${id}' cannot be used: ${error.message}`,
        fix: error.suggestion?.fix ?? 'Mend what the tool says about itself',
        severity: 'error',
      })
      return defineUnusableTool(name, found, error)
    }
  })
  return {
    id,
    name,
    path: [name],
    found,
    ...compact({ shadowedBy }),
    identity: compact({ tool: id, version: found.version }),
    get definition() {
      return define()
    },
  }
}

// A changed definition keeps the notes of the one it was made from.
function keepNotes(made: ToolDefinition, from: ToolDefinition): ToolDefinition {
  setNotes(made, getNotes(from))
  return made
}

function defineUnusableTool(
  name: string,
  { summary }: FoundTool,
  error: ToolError,
): ToolDefinition {
  return defineTool({
    name,
    summary: summary.trim() === '' ? name : summary.slice(0, 200),
    input: { type: 'object', additionalProperties: true },
    run: () => {
      throw new ToolError('CONFIG', `the tool cannot be used: ${error.message}`, {
        cause: error,
        recoverable: false,
      })
    },
  })
}

type ToolRun = (input: unknown, ctx: Context) => unknown

/**
 * A tool that declares no permissions has the rights of its caller, so it runs only if no policy
 * demands more.
 */
function enforcePolicies(definition: ToolDefinition, tool: string): ToolDefinition {
  const run = definition.run as ToolRun | undefined
  if (!run) return definition
  // Usually there is no policy, and then a call pays no promise for it.
  const guarded: ToolRun = (input, ctx) =>
    hasPolicies(ctx.cwd, ctx.env)
      ? requireAllowed(tool, ctx).then(() => run(input, ctx))
      : run(input, ctx)
  return keepNotes({ ...definition, run: guarded }, definition)
}

async function requireAllowed(tool: string, { cwd, env }: Context): Promise<void> {
  const { checkUnconfined, decideLevel } = await import('../process/policy-check.ts')
  const policy = await loadPolicies(cwd, env)
  await checkUnconfined(policy, tool)
  await decideLevel({
    tool,
    needs: 'L1',
    offered: 'L1',
    policy,
    problem: new ToolError('SANDBOX_UNAVAILABLE', 'nothing says what it may do', {
      suggestion: "Add 'permissions:' to its manifest; {} asks for nothing but its workspace",
    }),
  })
}
