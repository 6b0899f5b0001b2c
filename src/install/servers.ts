/**
 * Adds, removes and lists the MCP server of a program in the configuration files of agents.
 */

import { isDeepStrictEqual } from 'node:util'
import type { SharedFile } from '../core/files/shared-file.ts'
import { openSharedFile } from '../core/files/shared-file.ts'
import { compact, isObject } from '../util/values.ts'
import type {
  AgentEnvironment,
  AgentServerConfig,
  InstallScope,
  ServerAgent,
  ServerTarget,
} from './agents/agent.ts'
import { isAgentUsed } from './agents/agents.ts'
import type { FileChange } from './change-file.ts'
import { changeFile } from './change-file.ts'
import type { ConfigSlot } from './config-file.ts'
import { dropEntry, loadFormat, putEntry, readEntries, replaceWord } from './config-file.ts'
import type { ConfigFormat, ConfigObject, CreatedParts } from './formats/format.ts'
import type { InstallRow, InstallRun } from './report.ts'
import { getFileProblem } from './report.ts'
import type { EntryMark } from './server-entry.ts'
import {
  formatMark,
  hashEntry,
  parseMark,
  stripMark,
  toBareEntry,
  toMarkedEntry,
} from './server-entry.ts'

/** What to install under which name; `force` replaces what others wrote there. */
type AddServerRequest = {
  readonly program: string
  readonly name: string
  readonly server: ServerTarget
  readonly force: boolean
}

/** Puts a server into the file of one agent, or plans to. */
export function addServer(
  place: ServerConfigFile,
  request: AddServerRequest,
  { dryRun, signal }: InstallRun,
): Promise<InstallRow> {
  // What only this user reads may hold secrets, of others too.
  const mode = place.scope === 'user' ? 0o600 : 0o666
  const decide = (file: SharedFile, folders: number): FileChange<InstallRow> =>
    decideAdd(place, request, file, folders)
  return changeFile(place.file, decide, { dryRun, signal, mode })
}

function decideAdd(
  place: ServerConfigFile,
  { program, name, server, force }: AddServerRequest,
  { text = '', stats }: SharedFile,
  folders: number,
): FileChange<InstallRow> {
  const { servers } = place.agent
  const slot = toSlot(place, name)
  const found = inspectEntry(readEntries(text, slot), name, servers, program)
  const bare = found.state === 'absent' ? undefined : found.bare
  const isSame = isDeepStrictEqual(bare, toBareEntry(server, servers))
  const action = decideAction(found, isSame, force)
  const isChange = action === 'add' || action === 'update'
  const made = getCreatedParts(found, place, text, stats === undefined, folders)
  const entry = toMarkedEntry(server, servers, program, made)
  const row = createRow(place, name, action, {
    reason: action === 'conflict' || found.state === 'foreign' ? getReason(found, name) : undefined,
    forcible: action === 'conflict' || undefined,
    entry: isChange ? entry : undefined,
  })
  if (isChange) return { row, write: putEntry(text, slot, entry) }
  // We created folders, and another process was faster with the file in them.
  return action === 'unchanged' && folders > 0
    ? { row, write: transferCreatedParts(text, slot, servers, { folders }) }
    : { row }
}

function createRow(
  { agent, file }: ServerConfigFile,
  name: string,
  action: InstallRow['action'],
  more: Omit<InstallRow['details'], 'agents'>,
): InstallRow {
  const key = `${agent.servers.container}.${name}`
  return { action, target: file, details: compact({ agents: [agent.name], key, ...more }) }
}

function toSlot({ agent, format }: ServerConfigFile, name: string): ConfigSlot {
  return { format, container: agent.servers.container, name }
}

function decideAction(found: FoundEntry, same: boolean, force: boolean): InstallRow['action'] {
  if (found.state === 'absent') return 'add'
  if (found.state === 'installed') return same ? 'unchanged' : 'update'
  // An entry of others that equals ours is what was asked for; it stays theirs.
  if (same) return found.state === 'foreign' && !force ? 'unchanged' : 'update'
  return force ? 'update' : 'conflict'
}

function getCreatedParts(
  found: FoundEntry,
  { agent, format }: ServerConfigFile,
  text: string,
  isNewFile: boolean,
  folders: number,
): CreatedParts {
  if (found.state === 'installed' || found.state === 'edited') return found.mark.made
  if (found.state === 'foreign') return {}
  const missing = format.missing(text, agent.servers.container)
  return compact({
    ...missing,
    part: isNewFile ? 'file' : missing.part,
    folders: folders > 0 ? folders : missing.folders,
  })
}

/** What to remove: one entry, or all that the program wrote. */
type RemoveServerRequest = {
  readonly program: string
  readonly name: string | undefined
  readonly force: boolean
}

/**
 * Removes entries of the program from the file of one agent, or plans to; one row for each entry
 * that is meant.
 */
export async function removeServers(
  place: ServerConfigFile,
  { program, name, force }: RemoveServerRequest,
  { dryRun, signal }: InstallRun,
): Promise<readonly InstallRow[]> {
  const options = { dryRun, signal, mode: 0o600 }
  const rows: InstallRow[] = []
  for (const each of name === undefined ? await listInstalled(place, program, signal) : [name])
    rows.push(
      await changeFile(
        place.file,
        ({ text = '' }) => decideRemove(place, each, program, force, text),
        options,
      ),
    )
  return rows
}

function listInstalled(
  place: ServerConfigFile,
  program: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const list = ({ text = '' }: SharedFile): FileChange<readonly string[]> => {
    const entries = readEntries(text, toSlot(place, program))
    const own = listOwnNames(entries, place.agent.servers, program)
    return { row: own.length > 0 ? own : [program] }
  }
  return changeFile(place.file, list, { dryRun: true, signal, mode: 0o600 })
}

function decideRemove(
  place: ServerConfigFile,
  name: string,
  program: string,
  force: boolean,
  text: string,
): FileChange<InstallRow> {
  const { servers } = place.agent
  const slot = toSlot(place, name)
  const found = inspectEntry(readEntries(text, slot), name, servers, program)
  const reason = getReason(found, name)
  if (found.state === 'absent') return { row: createRow(place, name, 'unchanged', { reason }) }
  if (found.state === 'foreign' || (found.state === 'edited' && !force)) {
    const forcible = found.state === 'edited'
    return { row: createRow(place, name, 'conflict', { reason, forcible }) }
  }
  const row = createRow(place, name, 'remove', { reason })
  const { made } = found.mark
  const rest = dropEntry(text, slot, made)
  return rest === '' && made.part === 'file'
    ? { row, remove: { folders: made.folders ?? 0 } }
    : { row, write: transferCreatedParts(rest, slot, servers, made) }
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
  environment: AgentEnvironment,
): Promise<readonly ListedServer[]> {
  const places = await Promise.all(
    scopes.map((scope) => listServerConfigs(agents, scope, environment)),
  )
  return places
    .flat()
    .flatMap((place) =>
      listConfigFile(place, program, name).map((listed) => ({
        agent: place.agent.name,
        detected: isAgentUsed(place.agent, environment),
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
  const { file, agent } = place
  try {
    const entries = readEntries(openSharedFile(file).text ?? '', toSlot(place, program))
    const names =
      name === undefined ? [program, ...listOwnNames(entries, agent.servers, program)] : [name]
    return [...new Set(names)].map((each) => {
      const found = inspectEntry(entries, each, agent.servers, program)
      return compact({ name: each, state: found.state, file, reason: getReason(found, each) })
    })
  } catch (error) {
    const reason = getFileProblem(error, file)
    return [{ name: name ?? program, state: 'broken', file, reason }]
  }
}

/** One file of one agent, and how it is edited. */
export type ServerConfigFile = {
  readonly agent: ServerAgent
  readonly scope: InstallScope
  readonly file: string
  readonly format: ConfigFormat
}

/** The files of some agents. */
export function listServerConfigs(
  agents: readonly ServerAgent[],
  scope: InstallScope,
  environment: AgentEnvironment,
): Promise<readonly ServerConfigFile[]> {
  return Promise.all(
    agents.map(async (agent) => ({
      agent,
      scope,
      file: agent.servers.getFile(scope, environment),
      format: await loadFormat(agent.servers.format),
    })),
  )
}

/**
 * An entry as it is in a file: ours, ours and edited since, or written by others.
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
  servers: AgentServerConfig,
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
