import { resolve } from 'node:path'
import { fail, tool } from 'toolable'
import { z } from 'zod'
import { existing, root, rootFlag } from '../lib/root.mjs'
import { isBinaryFile, textLines } from '../lib/text-lines.mjs'

const MOST_CHARACTERS = 200_000

export const readFile = tool({
  name: 'read_file',
  summary: 'Read a text file, whole or some of its lines',
  input: z.object({
    path: z.string().min(1).describe('File in the root folder'),
    from: z.int().min(1).default(1).describe('First line'),
    to: z.int().min(1).optional().describe('Last line'),
    root,
  }),
  output: z.object({
    path: z.string(),
    from: z.int(),
    to: z.int(),
    text: z.string(),
    next: z.int().optional(),
  }),
  positional: ['path'],
  flags: rootFlag,
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'The first ten lines', input: { path: 'README.md', to: 10 } }],
  errors: { E3102: { category: 'state', message: 'The file is not text' } },
  async run({ path, from, to = Infinity, root }, ctx) {
    const file = await existing(resolve(ctx.cwd, root), path)
    if (await isBinaryFile(file))
      fail('E3102', `${path} is not a text file`, { recoverable: false })
    const lines = []
    let room = MOST_CHARACTERS
    for await (const { line, text } of textLines(file)) {
      if (line < from) continue
      if (line > to) break
      room -= text.length + 1
      // The caller reads on from `next`.
      if (room < 0 && lines.length > 0)
        return { path, from, to: line - 1, text: lines.join('\n'), next: line }
      lines.push(text)
    }
    return { path, from, to: from + lines.length - 1, text: lines.join('\n') }
  },
})
