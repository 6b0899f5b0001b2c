import { join, resolve } from 'node:path'
import { tool } from 'toolable'
import { z } from 'zod'
import { matcher } from '../lib/glob.mjs'
import { root, rootFlag } from '../lib/root.mjs'
import { textLines } from '../lib/text-lines.mjs'
import { walk } from '../lib/walk.mjs'

export const searchText = tool({
  name: 'search_text',
  summary: 'Find the lines that contain a text',
  input: z.object({
    text: z.string().min(1).describe('What to look for'),
    files: z.string().max(200).default('*').describe('Glob of the files to look into'),
    ignoreCase: z.boolean().default(false).describe('Capitals do not matter'),
    most: z.int().min(1).max(10_000).default(200).describe('Stop after so many lines'),
    root,
  }),
  output: z.array(z.object({ path: z.string(), line: z.int(), text: z.string() })),
  positional: ['text'],
  flags: { ...rootFlag, ignoreCase: { short: 'i' } },
  annotations: { readOnly: true, idempotent: true },
  examples: [{ description: 'Open ends in the sources', input: { text: 'FIXME', files: '*.js' } }],
  async run({ text, files, ignoreCase, most, root }, ctx) {
    const folder = resolve(ctx.cwd, root)
    const matches = matcher(files)
    const fold = (line) => (ignoreCase ? line.toLowerCase() : line)
    const found = []
    for await (const path of walk(folder, ctx.signal)) {
      if (!matches(path)) continue
      try {
        for await (const { line, text: content } of textLines(join(folder, path))) {
          if (fold(content).includes(fold(text)))
            found.push({ path, line, text: content.trim().slice(0, 200) })
          if (found.length >= most) return found
        }
      } catch {
        ctx.log(`${path} cannot be read`, 'warn')
      }
    }
    return found
  },
})
