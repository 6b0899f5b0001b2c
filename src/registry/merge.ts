import { lookupKey } from '../define/names.ts'
import type { Prompt } from '../define/prompt.ts'
import type { Resource } from '../define/resource.ts'
import { makeEntry } from './entry.ts'
import type { Entry } from './entry.ts'
import { TIERS } from './found.ts'
import type { FoundTool, Loaded, Problem } from './found.ts'
import { distinctName, entryNames, validName, validNames } from './names.ts'

/** Everything that all sources found, under names that mean one thing each. */
export type Merged = {
  readonly entries: readonly Entry[]
  readonly resources: readonly Resource[]
  readonly prompts: readonly Prompt[]
  /** Grows when an entry turns out to be unusable. */
  readonly problems: Problem[]
  find(name: string): Entry | undefined
}

type Placed = { readonly id: string; readonly found: FoundTool; readonly owner: { readonly id: string; readonly found: FoundTool } | undefined }

/** Puts together what the sources found: the stronger tier gets the bare name, the others keep their ids. */
export function merge(loaded: readonly Loaded[]): Merged {
  const problems = loaded.flatMap(({ problems: own }) => own ?? [])
  const report = (problem: Problem): void => void problems.push(problem)
  const byId = new Map<string, FoundTool>()
  const owners = new Map<string, { readonly id: string; readonly found: FoundTool }>()
  const placed: Placed[] = []

  const inOrder = inOrderOfStrength(loaded)
  const bareNames = namesBySource(inOrder)
  for (const found of inOrder) {
    const source = validName(found.source)
    const bare = bareNames.get(source)!.get(found.name)!
    let id = `${source}.${bare}`
    const same = byId.get(id)
    if (same && same.name === found.name) {
      report(duplicate(found, `two tools of '${found.source}' are called '${found.name}'; the one ${whereIs(same)} is used`))
      continue
    }
    if (same) id = `${source}.${distinctName(bare, found.name)}`
    byId.set(id, found)
    const key = lookupKey(bare)
    const owner = same ? undefined : owners.get(key)
    if (!owner && !same) owners.set(key, { id, found })
    if (owner?.found.tier === found.tier) report(duplicate(found, `'${found.name}' is also a tool of '${owner.found.source}'; the bare name means that one, and this one is '${id}'`))
    placed.push({ id, found, owner })
  }

  const names = new Map<string, Entry>()
  const ids = new Map<string, Entry>()
  const place = (name: string, { id, found, owner }: Placed): void => {
    const entry = makeEntry({ id, name, found, ...(owner && { shadowedBy: owner.id }) }, report)
    names.set(lookupKey(name), entry)
    ids.set(lookupKey(id), entry)
  }
  // Mostly nothing is shadowed, and then every tool is called by its own name.
  const shadowed = placed.filter(({ owner }) => owner !== undefined)
  if (shadowed.length === 0) for (const each of placed) place(bareOf(each.id), each)
  else {
    const inView = [...placed.filter(({ owner }) => owner === undefined), ...shadowed]
    for (const [name, each] of entryNames(inView.map((placing) => ({ ...placing, source: placing.found.source, bare: bareOf(placing.id), shadowed: placing.owner !== undefined })))) place(name, each)
  }
  return {
    entries: [...ids.values()],
    resources: uniqueResources(loaded, report),
    prompts: uniquePrompts(loaded),
    problems,
    find(name) {
      const dot = name.indexOf('.')
      return names.get(lookupKey(name)) ?? ids.get(lookupKey(name)) ?? names.get(lookupKey(validName(name))) ?? (dot === -1 ? undefined : ids.get(lookupKey(`${validName(name.slice(0, dot))}.${validName(name.slice(dot + 1))}`)))
    },
  }
}

function bareOf(id: string): string {
  return id.slice(id.indexOf('.') + 1)
}

function inOrderOfStrength(loaded: readonly Loaded[]): readonly FoundTool[] {
  const tools = loaded.flatMap(({ tools: own }) => own)
  return TIERS.flatMap((tier) => tools.filter((found) => found.tier === tier))
}

// Which names a source gives its tools does not depend on their order.
function namesBySource(tools: readonly FoundTool[]): Map<string, Map<string, string>> {
  const bySource = new Map<string, string[]>()
  for (const { source, name } of tools) {
    const names = bySource.get(validName(source))
    if (names) names.push(name)
    else bySource.set(validName(source), [name])
  }
  return new Map([...bySource].map(([source, names]) => [source, validNames(names)]))
}

function duplicate(found: FoundTool, message: string): Problem {
  return { source: found.source, location: found.location ?? found.name, reason: 'duplicate', message, fix: 'Rename one of them, or leave one out', severity: 'warning' }
}

function whereIs({ location }: FoundTool): string {
  return location === undefined ? 'found first' : `at ${location}`
}

function uniqueResources(loaded: readonly Loaded[], report: (problem: Problem) => void): readonly Resource[] {
  const byAddress = new Map<string, Resource>()
  for (const resource of loaded.flatMap(({ resources }) => resources ?? [])) {
    const { uri } = resource.manifest
    if (byAddress.has(uri)) report({ source: 'resources', location: uri, reason: 'duplicate', message: `two sources have the resource '${uri}'; the first is read`, fix: 'Change the address of one', severity: 'warning' })
    else byAddress.set(uri, resource)
  }
  return [...byAddress.values()]
}

// A prompt has no tier: the first keeps its name.
function uniquePrompts(loaded: readonly Loaded[]): readonly Prompt[] {
  const byName = new Map<string, Prompt>()
  loaded.flatMap(({ prompts }) => prompts ?? []).forEach((prompt, index) => {
    const isTaken = byName.has(lookupKey(prompt.name))
    const named = isTaken ? renamed(prompt, distinctName(prompt.name, String(index))) : prompt
    byName.set(lookupKey(named.name), named)
  })
  return [...byName.values()]
}

function renamed(prompt: Prompt, name: string): Prompt {
  return { ...prompt, name, manifest: async () => ({ ...(await prompt.manifest()), name }) }
}
