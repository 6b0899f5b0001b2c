import type { Rules } from '../contract/guard.ts'
import { lookupKey } from '../define/names.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import { makeEntry } from './entry.ts'
import type { Entry, EntryParts } from './entry.ts'
import { TIERS } from './found.ts'
import type { FoundTool, Loaded, Problem, Tier } from './found.ts'
import { distinctName, entryNames, validName, validNames } from './names.ts'

/** Everything that all sources found, under names that mean one thing each. */
export type Merged = {
  /** What a list needs. */
  readonly listed: readonly EntryParts[]
  /** The same, ready for calls. */
  readonly entries: readonly Entry[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /** Grows when an entry turns out to be unusable. */
  readonly problems: Problem[]
  find(name: string): Entry | undefined
}

type NamedSource = { readonly source: string; readonly names: ReadonlyMap<string, string> }

type Placed = {
  readonly id: string
  readonly bare: string
  readonly found: FoundTool
  /** Who has the bare name. */ readonly owner: Placed | undefined
}

/** Puts together what the sources found: the stronger tier gets the bare name, the others keep their ids. `rules` are those of the whole registry. */
export function merge(loaded: readonly Loaded[], rules?: Rules): Merged {
  const problems = loaded.flatMap(({ problems: own }) => own ?? [])
  const report = (problem: Problem): void => void problems.push(problem)
  const listed = nameAll(placeAll(inOrderOfStrength(loaded), report))
  const entries = once(() => listed.map((parts) => makeEntry(parts, report, rules)))
  const index = once(() => indexEntries(entries()))
  return {
    listed,
    get entries() {
      return entries()
    },
    resources: uniqueResources(loaded, report),
    prompts: uniquePrompts(loaded),
    problems,
    find: (name) => index()(name),
  }
}

function inOrderOfStrength(loaded: readonly Loaded[]): readonly FoundTool[] {
  const byTier = new Map<Tier, FoundTool[]>(TIERS.map((tier) => [tier, []]))
  for (const { tools } of loaded) for (const found of tools) byTier.get(found.tier)!.push(found)
  return [...byTier.values()].flat()
}

function placeAll(
  tools: readonly FoundTool[],
  report: (problem: Problem) => void,
): readonly Placed[] {
  const byId = new Map<string, Placed>()
  const owners = new Map<string, Placed>()
  const sources = namesBySource(tools)
  for (const found of tools) {
    const { source, names } = sources.get(found.source)!
    const bare = names.get(found.name)!
    const id = `${source}.${bare}`
    const same = byId.get(id)
    if (same?.found.name === found.name) {
      report(
        duplicate(
          found,
          `two tools of '${found.source}' are called '${found.name}'; the one ${whereIs(same.found)} is used`,
        ),
      )
      continue
    }
    if (same) {
      const distinct = distinctName(bare, found.name)
      byId.set(`${source}.${distinct}`, {
        id: `${source}.${distinct}`,
        bare: distinct,
        found,
        owner: undefined,
      })
      continue
    }
    const key = lookupKey(bare)
    const owner = owners.get(key)
    const placed = { id, bare, found, owner }
    if (!owner) owners.set(key, placed)
    else if (owner.found.tier === found.tier)
      report(
        duplicate(
          found,
          `'${found.name}' is also a tool of '${owner.found.source}'; the bare name means that one, and this one is '${id}'`,
        ),
      )
    byId.set(id, placed)
  }
  return [...byId.values()]
}

// Which names a source gives its tools does not depend on their order. Sources whose names are told alike share them.
function namesBySource(tools: readonly FoundTool[]): ReadonlyMap<string, NamedSource> {
  const sources = new Map<string, string>()
  const given = new Map<string, string[]>()
  for (const { source, name } of tools) {
    let valid = sources.get(source)
    if (valid === undefined) {
      sources.set(source, (valid = validName(source)))
      if (!given.has(valid)) given.set(valid, [])
    }
    given.get(valid)!.push(name)
  }
  const names = new Map(Array.from(given, ([valid, foreign]) => [valid, validNames(foreign)]))
  return new Map(
    Array.from(sources, ([source, valid]) => [source, { source: valid, names: names.get(valid)! }]),
  )
}

// Mostly nothing is shadowed, and then every tool is called by its own name.
function nameAll(placed: readonly Placed[]): readonly EntryParts[] {
  const shadowed = placed.filter(({ owner }) => owner !== undefined)
  if (shadowed.length === 0) return placed.map(({ id, bare, found }) => ({ id, name: bare, found }))
  const inView = [...placed.filter(({ owner }) => owner === undefined), ...shadowed]
  const named = entryNames(
    inView.map(({ id, bare, found, owner }) => ({
      id,
      bare,
      found,
      source: found.source,
      owner,
      shadowed: owner !== undefined,
    })),
  )
  return Array.from(named, ([name, { id, found, owner }]) => ({
    id,
    name,
    found,
    ...(owner && { shadowedBy: owner.id }),
  }))
}

function indexEntries(entries: readonly Entry[]): Merged['find'] {
  const names = new Map(entries.map((entry) => [lookupKey(entry.name), entry]))
  const ids = new Map(entries.map((entry) => [entry.id, entry]))
  for (const entry of entries)
    if (!ids.has(lookupKey(entry.id))) ids.set(lookupKey(entry.id), entry)
  const byId = (id: string): Entry | undefined => ids.get(id) ?? ids.get(lookupKey(id))
  return (name) => {
    const dot = name.indexOf('.')
    return (
      names.get(lookupKey(name)) ??
      byId(name) ??
      names.get(lookupKey(validName(name))) ??
      (dot === -1
        ? undefined
        : byId(`${validName(name.slice(0, dot))}.${validName(name.slice(dot + 1))}`))
    )
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function duplicate(found: FoundTool, message: string): Problem {
  return {
    source: found.source,
    location: found.location ?? found.name,
    reason: 'duplicate',
    message,
    fix: 'Rename one of them, or leave one out',
    severity: 'warning',
  }
}

function whereIs({ location }: FoundTool): string {
  return location === undefined ? 'found first' : `at ${location}`
}

function uniqueResources(
  loaded: readonly Loaded[],
  report: (problem: Problem) => void,
): readonly Resource[] {
  const byAddress = new Map<string, Resource>()
  for (const resource of loaded.flatMap(({ resources }) => resources ?? [])) {
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
function uniquePrompts(loaded: readonly Loaded[]): readonly Prompt[] {
  const byName = new Map<string, Prompt>()
  loaded
    .flatMap(({ prompts }) => prompts ?? [])
    .forEach((prompt, index) => {
      const isTaken = byName.has(lookupKey(prompt.name))
      const named = isTaken ? renamed(prompt, distinctName(prompt.name, String(index))) : prompt
      byName.set(lookupKey(named.name), named)
    })
  return [...byName.values()]
}

function renamed(prompt: Prompt, name: string): Prompt {
  return { ...prompt, name, manifest: async () => ({ ...(await prompt.manifest()), name }) }
}
