import type { ToolDefinition } from '../../define/tool-type.ts'

const notes = new WeakMap<ToolDefinition, readonly string[]>()

/** Keeps what of its owner's description could not be taken as it is. */
export function keepNotes(definition: ToolDefinition, told: readonly string[]): void {
  notes.set(definition, told)
}

/** What of its owner's description could not be taken as it is; empty for tools of this process. */
export function notesOf(definition: ToolDefinition): readonly string[] {
  return notes.get(definition) ?? []
}
