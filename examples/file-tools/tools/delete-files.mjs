import { rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fail, partial, tool } from 'toolable'
import { z } from 'zod'
import { matcher } from '../lib/glob.mjs'
import { root, rootFlag } from '../lib/root.mjs'
import { walk } from '../lib/walk.mjs'

// region delete-files
export const deleteFiles = tool({
  name: 'delete_files',
  summary: 'Delete files by a glob pattern',
  input: z.object({ pattern: z.string().min(1).max(200).describe('Glob, such as *.tmp'), root }),
  output: z.object({ deleted: z.array(z.string()) }),
  positional: ['pattern'],
  flags: rootFlag,
  annotations: { destructive: true, idempotent: true },
  dryRun: true,
  examples: [{ description: 'See first what would go', args: ['*.tmp', '--dry-run'] }],
  errors: { E3101: { category: 'state', message: 'No file matches the pattern' } },
  async run({ pattern, root }, ctx) {
    const folder = resolve(ctx.cwd, root)
    const matches = matcher(pattern)
    const deleted = []
    const errors = []
    for await (const path of walk(folder, ctx.signal)) {
      if (!matches(path)) continue
      ctx.plan('delete', path, { size: (await stat(join(folder, path))).size })
      if (ctx.dryRun) continue
      await rm(join(folder, path)).then(
        () => deleted.push(path),
        (error) => errors.push(problem(path, error)),
      )
    }
    if (!ctx.dryRun && deleted.length + errors.length === 0)
      fail('E3101', `no file matches '${pattern}' in ${root}`)
    return partial({ deleted }, errors)
  },
})
// endregion

function problem(path, error) {
  return {
    code: 'PERMISSION',
    message: `${path} cannot be deleted: ${error.code}`,
    details: { path },
  }
}
