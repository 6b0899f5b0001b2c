import type { Entry, EntryParts } from './entry.ts'
import { notesOf } from './foreign/notes.ts'
import type { ListedTool, ToolDescription } from './registry-type.ts'

/** A tool in short. */
export function listEntry({ id, name, found, shadowedBy }: EntryParts): ListedTool {
  const { summary, source, kind, tier, location, tags } = found
  const isTheirName = found.name === id.slice(id.indexOf('.') + 1)
  return {
    id,
    name,
    summary,
    source,
    kind,
    tier,
    ...(location !== undefined && { location }),
    tags,
    ...(!isTheirName && { original_name: found.name }),
    ...(shadowedBy !== undefined && { shadowed_by: shadowedBy }),
  }
}

/** A tool with everything that is known about it. Throws CONFIG where its schemas cannot be used. */
export async function describeEntry(entry: Entry): Promise<ToolDescription> {
  const notes = notesOf(entry.definition)
  return {
    ...listEntry(entry),
    manifest: (await entry.definition.compiled()).manifest,
    ...(notes.length > 0 && { notes }),
  }
}
