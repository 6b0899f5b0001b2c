import { stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { fail, tool } from 'toolable'
import { z } from 'zod'
import { matcher } from '../lib/glob.mjs'
import { root, rootFlag } from '../lib/root.mjs'
import { walk } from '../lib/walk.mjs'

// region find-files
export const findFiles = tool({
  name: 'find_files',
  summary: 'Find files by a glob pattern',
  description:
    'Searches a folder and the folders in it. A pattern without a slash is compared with the file name.',
  input: z.object({
    pattern: z.string().min(1).max(200).describe('Glob, such as *.js or src/**/*.ts'),
    root,
    maxDepth: z.int().min(1).max(100).default(10).describe('How many folders deep to look'),
    includeHidden: z.boolean().default(false).describe('Look at hidden files and folders too'),
  }),
  output: z.array(z.object({ path: z.string(), size: z.int(), modified: z.iso.datetime() })),
  positional: ['pattern'],
  flags: rootFlag,
  annotations: { readOnly: true, idempotent: true },
  examples: [
    { description: 'All Markdown files', input: { pattern: '*.md' } },
    {
      description: 'Tests, at most three folders deep',
      input: { pattern: '*.test.*', root: 'src', maxDepth: 3 },
    },
  ],
  errors: { E3101: { category: 'state', message: 'No file matches the pattern' } },
  timeout: 60,
  async run(input, ctx) {
    const folder = resolve(ctx.cwd, input.root)
    const matches = matcher(input.pattern)
    const found = []
    const extensions = new Map()
    for await (const path of walk(folder, ctx.signal, input)) {
      extensions.set(extname(path), (extensions.get(extname(path)) ?? 0) + 1)
      if (matches(path)) found.push(await describe(folder, path))
    }
    if (found.length === 0) noMatch(input, extensions)
    return found
  },
})
// endregion

// region repair
// An agent repairs its call in one step when the error says what is really there.
function noMatch(input, extensions) {
  const [common] = [...extensions]
    .filter(([extension]) => extension !== '')
    .sort((left, right) => right[1] - left[1])
  fail('E3101', `no file matches '${input.pattern}' in ${input.root}`, {
    details: {
      available_extensions: [...extensions.keys()].filter((extension) => extension !== '').sort(),
    },
    suggestion: common
      ? {
          fix: `Most files there end in ${common[0]}`,
          input: { ...input, pattern: `*${common[0]}` },
        }
      : { action: 'abort', fix: 'There are no files to find there' },
  })
}
// endregion

async function describe(folder, path) {
  const { size, mtime } = await stat(join(folder, path))
  return { path, size, modified: mtime.toISOString() }
}
