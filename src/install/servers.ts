/**
 * Adds, removes and lists the MCP server of a program in the configuration files of agents.
 */

import { isDeepStrictEqual } from 'node:util'
import { openSharedFile, toFileError } from '../core/files/shared-file.ts'
import type { SharedFile } from '../core/files/shared-file.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type {
  AgentEnvironment,
  AgentServerConfig,
  CodingAgent,
  InstallScope,
  ServerTarget,
} from './agents/agent.ts'
import { CODING_AGENTS, detectAgent } from './agents/agents.ts'
import { changeFile } from './change-file.ts'
import type { FileChange } from './change-file.ts'
import { dropEntry, loadFormat, putEntry, readEntries, replaceWord } from './config-file.ts'
import type { ConfigSlot } from './config-file.ts'
import type { ConfigFormat, ConfigObject, CreatedParts } from './formats/format.ts'
import type { InstallRow } from './report.ts'
import {
  formatMark,
  hashEntry,
  parseMark,
  stripMark,
  toBareEntry,
  toMarkedEntry,
} from './server-entry.ts'
import type { EntryMark } from './server-entry.ts'

/** What is to be installed under which name; `force` replaces what somebody else wrote there. */
type AddServerRequest = {
  readonly program: string
  readonly name: string
  readonly server: ServerTarget
  readonly force: boolean
}

/** Puts a server into the file of one agent, or plans to. */
export function addServer(
  place: ServerConfigFile,
  wish: AddServerRequest,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<InstallRow> {
  // What only this user reads may hold secrets, of others too.
  return changeFile(place.file, (file, folders) => decideAdd(place, wish, file, folders), {
    dryRun,
    signal,
    mode: place.scope === 'user' ? 0o600 : 0o666,
  })
}

function decideAdd(
  place: ServerConfigFile,
  { program, name, server, force }: AddServerRequest,
  { text = '', ...file }: SharedFile,
  folders: number,
): FileChange<InstallRow> {
  const { agent, servers, format } = place
  const slot = { format, container: servers.container, name }
  const entries = readEntries(text, slot)
  const found = inspectEntry(entries, name, servers, program)
  const action = decideAction(
    found,
    isDeepStrictEqual(
      found.state === 'absent' ? undefined : found.bare,
      toBareEntry(server, servers),
    ),
    force,
  )
  const made =
    found.state === 'installed' || found.state === 'edited'
      ? found.mark.made
      : found.state === 'absent'
        ? toCreatedParts(format.missing(text, servers.container), file.stats === undefined, folders)
        : {}
  const entry = toMarkedEntry(server, servers, program, made)
  const reason =
    action === 'conflict' || found.state === 'foreign' ? getReason(found, name) : undefined
  const row: InstallRow = {
    action,
    target: place.file,
    details: compact({
      agents: [agent.name],
      key: `${servers.container}.${name}`,
      reason,
      forcible: action === 'conflict' || undefined,
      entry: action === 'add' || action === 'update' ? entry : undefined,
    }),
  }
  if (action === 'add' || action === 'update') return { row, write: putEntry(text, slot, entry) }
  // We made folders, and another was faster with the file in them.
  return action === 'unchanged' && folders > 0
    ? { row, write: transferCreatedParts(text, slot, servers, { folders }) }
    : { row }
}

function decideAction(found: FoundEntry, same: boolean, force: boolean): InstallRow['action'] {
  if (found.state === 'absent') return 'add'
  if (found.state === 'installed') return same ? 'unchanged' : 'update'
  // Somebody else's entry that is what we would write is what was asked for; it stays theirs.
  if (same) return found.state === 'foreign' && !force ? 'unchanged' : 'update'
  return force ? 'update' : 'conflict'
}

function toCreatedParts(missing: CreatedParts, fileToo: boolean, folders: number): CreatedParts {
  return {
    ...missing,
    ...compact({
      part: fileToo ? ('file' as const) : undefined,
      folders: folders > 0 ? folders : undefined,
    }),
  }
}

/** What is to be taken out: one entry, or all that the program wrote. */
type RemoveServerRequest = {
  readonly program: string
  readonly name: string | undefined
  readonly force: boolean
}

/**
 * Takes entries of the program out of the file of one agent, or plans to; one row for each entry
 * that is meant.
 */
export async function removeServers(
  place: ServerConfigFile,
  farewell: RemoveServerRequest,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<readonly InstallRow[]> {
  const rows: InstallRow[] = []
  const names = await listEntryNames(place, farewell, signal)
  for (const name of names)
    rows.push(
      await changeFile(place.file, (file) => decideRemove(place, { ...farewell, name }, file), {
        dryRun,
        signal,
        mode: 0o600,
      }),
    )
  return rows
}

async function listEntryNames(
  place: ServerConfigFile,
  { program, name }: RemoveServerRequest,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (name !== undefined) return [name]
  const look = ({ text = '' }: SharedFile): FileChange<readonly string[]> => {
    const entries = readEntries(text, { format: place.format, container: place.servers.container })
    const own = listOwnNames(entries, place.servers, program)
    return { row: own.length > 0 ? own : [program] }
  }
  return changeFile(place.file, look, { dryRun: true, signal, mode: 0o600 })
}

function decideRemove(
  { agent, servers, format, file: target }: ServerConfigFile,
  { program, name, force }: RemoveServerRequest & { readonly name: string },
  { text = '' }: SharedFile,
): FileChange<InstallRow> {
  const slot = { format, container: servers.container, name }
  const found = inspectEntry(readEntries(text, slot), name, servers, program)
  const reason = getReason(found, name)
  const row = (action: InstallRow['action']): InstallRow => ({
    action,
    target,
    details: compact({
      agents: [agent.name],
      key: `${servers.container}.${name}`,
      reason,
      forcible: action === 'conflict' ? found.state === 'edited' : undefined,
    }),
  })
  if (found.state === 'absent') return { row: row('unchanged') }
  if (found.state === 'foreign' || (found.state === 'edited' && !force))
    return { row: row('conflict') }
  const { made } = found.mark
  const rest = dropEntry(text, slot, made)
  if (rest === '' && made.part === 'file')
    return { row: row('remove'), remove: { folders: made.folders ?? 0 } }
  return { row: row('remove'), write: transferCreatedParts(rest, slot, servers, made) }
}

/** One entry, or the lack of one, in the file of an agent. */
type ListedServer = {
  readonly agent: string
  readonly detected: boolean
  readonly scope: InstallScope
  readonly name: string
  readonly state: 'installed' | 'edited' | 'foreign' | 'absent' | 'broken'
  readonly file: string
  readonly reason?: string
}

/** What of a program is installed where; always with a line for its own name. */
export async function listServers(
  agents: readonly ServerAgent[],
  scopes: readonly InstallScope[],
  program: string,
  name: string | undefined,
  surroundings: AgentEnvironment,
): Promise<readonly ListedServer[]> {
  const places = (
    await Promise.all(scopes.map((scope) => listServerConfigs(agents, scope, surroundings)))
  ).flat()
  const detected = new Set(
    SERVER_AGENTS.filter((agent) => detectAgent(agent, surroundings) !== undefined),
  )
  return places.flatMap((place) =>
    listConfigFile(place, program, name).map((listed) => ({
      agent: place.agent.name,
      detected: detected.has(place.agent),
      scope: place.scope,
      ...listed,
    })),
  )
}

function listConfigFile(
  place: ServerConfigFile,
  program: string,
  name: string | undefined,
): Omit<ListedServer, 'agent' | 'detected' | 'scope'>[] {
  try {
    const entries = readEntries(openSharedFile(place.file).text ?? '', {
      format: place.format,
      container: place.servers.container,
    })
    return (
      name === undefined
        ? [...new Set([program, ...listOwnNames(entries, place.servers, program)])]
        : [name]
    ).map((each) => {
      const found = inspectEntry(entries, each, place.servers, program)
      const reason = getReason(found, each)
      return compact({ name: each, state: found.state, file: place.file, reason })
    })
  } catch (error) {
    const problem = toFileError(error, place.file)
    if (!ToolError.is(problem)) throw problem
    return [{ name: name ?? program, state: 'broken', file: place.file, reason: problem.message }]
  }
}

/** An agent that has MCP servers. */
type ServerAgent = CodingAgent & { readonly servers: AgentServerConfig }

/** Every agent that has MCP servers. */
export const SERVER_AGENTS = CODING_AGENTS.filter(
  (agent): agent is ServerAgent => agent.servers !== undefined,
)

/** One file of one agent, and how it is edited. */
export type ServerConfigFile = {
  readonly agent: ServerAgent
  readonly servers: AgentServerConfig
  readonly scope: InstallScope
  readonly file: string
  readonly format: ConfigFormat
}

/** The files of some agents. */
export function listServerConfigs(
  agents: readonly ServerAgent[],
  scope: InstallScope,
  surroundings: AgentEnvironment,
): Promise<readonly ServerConfigFile[]> {
  return Promise.all(
    agents.map(async (agent) => ({
      agent,
      servers: agent.servers,
      scope,
      file: agent.servers.getFile(scope, surroundings),
      format: await loadFormat(agent.servers.format),
    })),
  )
}

/**
 * An entry as it stands in a file: ours, ours and changed by somebody since, or somebody else's.
 */
type FoundEntry =
  | { readonly state: 'absent' }
  | {
      readonly state: 'installed' | 'edited'
      readonly bare: ConfigObject
      readonly mark: EntryMark
    }
  | {
      readonly state: 'foreign'
      readonly bare: ConfigObject | undefined
      readonly mark: EntryMark | undefined
    }

/** Looks at one entry for the program. */
function inspectEntry(
  entries: ConfigObject,
  name: string,
  place: AgentServerConfig,
  program: string,
): FoundEntry {
  if (!Object.hasOwn(entries, name)) return { state: 'absent' }
  const entry = entries[name]
  if (!isObject(entry)) return { state: 'foreign', bare: undefined, mark: undefined }
  const mark = parseMark(entry, place)
  const bare = stripMark(entry, place)
  if (mark?.program !== program) return { state: 'foreign', bare, mark }
  return { state: hashEntry(bare) === mark.digest ? 'installed' : 'edited', bare, mark }
}

/** The names of the entries that the program wrote. */
function listOwnNames(entries: ConfigObject, place: AgentServerConfig, program: string): string[] {
  return Object.keys(entries).filter(
    (name) => !['absent', 'foreign'].includes(inspectEntry(entries, name, place, program).state),
  )
}

/** Why an entry is not ours to change. */
function getReason(found: FoundEntry, name: string): string | undefined {
  if (found.state === 'edited') return `'${name}' was changed by somebody after it was installed`
  if (found.state !== 'foreign') return undefined
  return found.mark
    ? `'${name}' belongs to the program ${found.mark.program}`
    : `'${name}' was written by somebody else`
}

/**
 * The text with what was made for one entry written down in another of ours, whoever's program it
 * is: the last one to go takes it along. Without such an entry nothing changes.
 */
function transferCreatedParts(
  text: string,
  slot: Omit<ConfigSlot, 'name'>,
  servers: ServerConfigFile['servers'],
  made: CreatedParts,
): string {
  if (Object.keys(made).length === 0) return text
  for (const [name, entry] of Object.entries(readEntries(text, slot))) {
    const mark = isObject(entry) ? parseMark(entry, servers) : undefined
    if (mark) return extendMark(text, { ...slot, name }, entry as ConfigObject, mark, made)
  }
  return text
}

function extendMark(
  text: string,
  slot: ConfigSlot,
  entry: ConfigObject,
  { program, digest, made: own, text: old }: EntryMark,
  made: CreatedParts,
): string {
  const mark = formatMark(program, digest, {
    ...own,
    ...made,
    folders: (own.folders ?? 0) + (made.folders ?? 0),
  })
  const after = JSON.parse(
    JSON.stringify(entry).replaceAll(JSON.stringify(old), JSON.stringify(mark)),
  ) as ConfigObject
  return replaceWord(text, slot, after, old, mark)
}
