import { tool } from 'toolable'
import { z } from 'zod'
import { root, rootFlag } from '../lib/root.mjs'
import { readFile } from './read-file.mjs'

// region summarize-file
export const summarizeFile = tool({
  name: 'summarize_file',
  summary: "Summarize a text file with the caller's model",
  input: z.object({
    path: z.string().min(1).describe('File in the root folder'),
    words: z.int().min(5).max(500).default(50).describe('Length of the summary'),
    root,
  }),
  output: z.object({ path: z.string(), summary: z.string() }),
  positional: ['path'],
  flags: rootFlag,
  annotations: { readOnly: true },
  async run({ path, words, root }, ctx) {
    const { text } = await readFile({ path, root }, { cwd: ctx.cwd, signal: ctx.signal })
    const summary = await ctx.sample(
      `Summarize in at most ${words} words:\n\n${text.slice(0, 20_000)}`,
      { system: 'You write plain, short summaries.', maxTokens: words * 3 },
    )
    return { path, summary: summary.trim() }
  },
})
// endregion
