import { fail, stream, tool, toolset } from 'toolable'
import { z } from 'zod'

/** @type {Map<number, string>} */
const kept = new Map()

const addNote = tool({
  name: 'add_note',
  summary: 'Keep a note',
  input: z.object({ text: z.string().min(1) }),
  output: z.object({ id: z.number(), text: z.string() }),
  run({ text }) {
    const id = kept.size + 1
    kept.set(id, text)
    return { id, text }
  },
})

const readNote = tool({
  name: 'read_note',
  summary: 'Read a note',
  input: z.object({ id: z.number() }),
  annotations: { readOnly: true },
  run: ({ id }) => kept.get(id) ?? fail('NOT_FOUND', `there is no note ${id}`),
})

const countDown = tool({
  name: 'count_down',
  summary: 'Count down, telling every step',
  input: z.object({ from: z.int().max(1000) }),
  async *run({ from }) {
    for (let step = from; step > 0; step--) yield stream.progress(`${step}`)
    return 'done'
  },
})

const forgetAll = tool({
  name: 'forget_all',
  summary: 'Forget every note',
  annotations: { destructive: true },
  run: () => kept.clear(),
})

export const notes = toolset({
  name: 'notes',
  version: '1.0.0',
  tools: [addNote, readNote, countDown, forgetAll],
})
