// region tools
import { fail, tool, toolset } from 'toolable'
import { z } from 'zod'

const notes = new Map([
  ['shopping', 'milk, bread'],
  ['ideas', 'a clock that runs backwards'],
])

const list = tool({
  name: 'list_notes',
  summary: 'List the names of all notes',
  annotations: { readOnly: true },
  run: () => [...notes.keys()],
})

const read = tool({
  name: 'read_note',
  summary: 'Read a note',
  input: z.object({ name: z.string() }),
  annotations: { readOnly: true },
  run: ({ name }) =>
    notes.get(name) ??
    fail('NOT_FOUND', `there is no note '${name}'`, { suggestion: 'list_notes tells the names' }),
})

const remove = tool({
  name: 'delete_note',
  summary: 'Delete a note for ever',
  input: z.object({ name: z.string() }),
  annotations: { destructive: true },
  run: ({ name }) =>
    notes.delete(name) ? `deleted ${name}` : fail('NOT_FOUND', `there is no note '${name}'`),
})

export const program = toolset({ name: 'notes', version: '1.0.0', tools: [list, read, remove] })
// endregion
