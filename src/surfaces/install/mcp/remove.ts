import { changeFile } from '../files/change-file.ts'
import type { Change } from '../files/change-file.ts'
import type { OpenedFile } from '../../../call/files/open-file.ts'
import { dropEntry, readEntries } from '../formats/edit.ts'
import type { Row } from '../report.ts'
import { handOver } from './hand-over.ts'
import { inspect, ownNames, reasonOf } from './inspect.ts'
import type { Place } from './places.ts'

/** What is to be taken out: one entry, or all that the program wrote. */
export type Farewell = {
  readonly program: string
  readonly name: string | undefined
  readonly force: boolean
}

/** Takes entries of the program out of the file of one agent, or plans to; one row for each entry that is meant. */
export async function removeServers(
  place: Place,
  farewell: Farewell,
  { dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<readonly Row[]> {
  const rows: Row[] = []
  const names = await namesIn(place, farewell, signal)
  for (const name of names)
    rows.push(
      await changeFile(place.file, (file) => decide(place, { ...farewell, name }, file), {
        dryRun,
        signal,
        mode: 0o600,
      }),
    )
  return rows
}

async function namesIn(
  place: Place,
  { program, name }: Farewell,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (name !== undefined) return [name]
  const look = ({ text = '' }: OpenedFile): Change<readonly string[]> => {
    const entries = readEntries(text, { format: place.format, container: place.servers.container })
    const own = ownNames(entries, place.servers, program)
    return { row: own.length > 0 ? own : [program] }
  }
  return changeFile(place.file, look, { dryRun: true, signal, mode: 0o600 })
}

function decide(
  { agent, servers, format, file: target }: Place,
  { program, name, force }: Farewell & { readonly name: string },
  { text = '' }: OpenedFile,
): Change<Row> {
  const slot = { format, container: servers.container, name }
  const found = inspect(readEntries(text, slot), name, servers, program)
  const reason = reasonOf(found, name)
  const row = (action: Row['action']): Row => ({
    action,
    target,
    details: {
      agents: [agent.name],
      key: `${servers.container}.${name}`,
      ...(reason !== undefined && { reason }),
      ...(action === 'conflict' && { forcible: found.state === 'edited' }),
    },
  })
  if (found.state === 'absent') return { row: row('unchanged') }
  if (found.state === 'foreign' || (found.state === 'edited' && !force))
    return { row: row('conflict') }
  const { made } = found.mark
  const rest = dropEntry(text, slot, made)
  if (rest === '' && made.part === 'file')
    return { row: row('remove'), remove: { folders: made.folders ?? 0 } }
  return { row: row('remove'), write: handOver(rest, slot, servers, made) }
}
