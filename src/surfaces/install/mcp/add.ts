import { isDeepStrictEqual } from 'node:util'
import type { Server } from '../agents/agent.ts'
import { changeFile } from '../files/change-file.ts'
import type { Change } from '../files/change-file.ts'
import type { OpenedFile } from '../../../call/files/open-file.ts'
import { putEntry, readEntries } from '../formats/edit.ts'
import type { Made } from '../formats/format.ts'
import type { Row } from '../report.ts'
import { handOver } from './hand-over.ts'
import { inspect, reasonOf } from './inspect.ts'
import type { Found } from './inspect.ts'
import { bareEntry, markedEntry } from './mark.ts'
import type { Place } from './places.ts'

/** What is to be installed under which name; `force` replaces what somebody else wrote there. */
export type Wish = {
  readonly program: string
  readonly name: string
  readonly server: Server
  readonly force: boolean
}

/** Puts a server into the file of one agent, or plans to. */
export function addServer(
  place: Place,
  wish: Wish,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<Row> {
  // What only this user reads may hold secrets, of others too.
  return changeFile(place.file, (file, folders) => decide(place, wish, file, folders), {
    dryRun,
    signal,
    mode: place.scope === 'user' ? 0o600 : 0o666,
  })
}

function decide(
  place: Place,
  { program, name, server, force }: Wish,
  { text = '', ...file }: OpenedFile,
  folders: number,
): Change<Row> {
  const { agent, servers, format } = place
  const slot = { format, container: servers.container, name }
  const entries = readEntries(text, slot)
  const found = inspect(entries, name, servers, program)
  const action = decideAction(
    found,
    isDeepStrictEqual(
      found.state === 'absent' ? undefined : found.bare,
      bareEntry(server, servers),
    ),
    force,
  )
  const made =
    found.state === 'installed' || found.state === 'edited'
      ? found.mark.made
      : found.state === 'absent'
        ? toMake(format.missing(text, servers.container), file.stats === undefined, folders)
        : {}
  const entry = markedEntry(server, servers, program, made)
  const reason =
    action === 'conflict' || found.state === 'foreign' ? reasonOf(found, name) : undefined
  const row: Row = {
    action,
    target: place.file,
    details: {
      agents: [agent.name],
      key: `${servers.container}.${name}`,
      ...(reason !== undefined && { reason }),
      ...(action === 'conflict' && { forcible: true }),
      ...((action === 'add' || action === 'update') && { entry }),
    },
  }
  if (action === 'add' || action === 'update') return { row, write: putEntry(text, slot, entry) }
  // We made folders, and another was faster with the file in them.
  return action === 'unchanged' && folders > 0
    ? { row, write: handOver(text, slot, servers, { folders }) }
    : { row }
}

function decideAction(found: Found, same: boolean, force: boolean): Row['action'] {
  if (found.state === 'absent') return 'add'
  if (found.state === 'installed') return same ? 'unchanged' : 'update'
  // Somebody else's entry that is what we would write is what was asked for; it stays theirs.
  if (same) return found.state === 'foreign' && !force ? 'unchanged' : 'update'
  return force ? 'update' : 'conflict'
}

function toMake(missing: Made, fileToo: boolean, folders: number): Made {
  return { ...missing, ...(fileToo && { part: 'file' as const }), ...(folders > 0 && { folders }) }
}
