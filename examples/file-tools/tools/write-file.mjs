import { appendFile, mkdir, stat, writeFile as write } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { tool } from 'toolable'
import { z } from 'zod'
import { inside, root, rootFlag } from '../lib/root.mjs'

// region write-file
export const writeFile = tool({
  name: 'write_file',
  summary: 'Write a text file, and ask before one is changed',
  input: z.object({
    path: z.string().min(1).describe('File in the root folder'),
    text: z.string().describe('What to write'),
    root,
  }),
  output: z.object({
    path: z.string(),
    action: z.enum(['created', 'replaced', 'appended', 'kept']),
  }),
  positional: ['path', 'text'],
  flags: rootFlag,
  async run({ path, text, root }, ctx) {
    const file = await inside(resolve(ctx.cwd, root), path)
    if (!(await exists(file))) {
      await mkdir(dirname(file), { recursive: true })
      await write(file, text)
      return { path, action: 'created' }
    }
    const action = await ctx.ask({
      kind: 'decision',
      prompt: `${path} exists. What now?`,
      options: ['replaced', 'appended', 'kept'],
    })
    if (action === 'replaced') await write(file, text)
    if (action === 'appended') await appendFile(file, text)
    return { path, action }
  },
})
// endregion

async function exists(file) {
  return stat(file).then(
    () => true,
    () => false,
  )
}
