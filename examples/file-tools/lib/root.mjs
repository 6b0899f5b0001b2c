import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fail } from 'toolable'
import { path } from 'toolable/zod'

// region root
/** The folder a tool works in. Every path of a caller is relative to it and may not leave it. */
export const root = path({ exists: true, kind: 'directory' })
  .default('.')
  .describe('Folder to work in')

/** `--root`, `-r`, or the environment. */
export const rootFlag = { root: { short: 'r', env: 'FILE_TOOLS_ROOT' } }
// endregion

/** The absolute path of a file inside the root; links that lead outside count as outside. */
export async function inside(rootPath, file) {
  const absolute = resolve(rootPath, file)
  const real = await realpathOfNearest(absolute)
  const base = await realpath(rootPath)
  if (real !== base && !real.startsWith(base + sep))
    fail('PERMISSION', `${file} is outside of ${rootPath}`, { field: 'path' })
  return absolute
}

/** The same for a file that has to be there. */
export async function existing(rootPath, file) {
  const absolute = await inside(rootPath, file)
  const stats = await stat(absolute).catch(() =>
    fail('NOT_FOUND', `there is no file ${file}`, {
      field: 'path',
      suggestion: 'Look for it with find_files',
    }),
  )
  if (!stats.isFile())
    fail('INVALID_PATH', `${file} is not a file`, {
      field: 'path',
      suggestion: 'List what is in a folder with find_files',
    })
  return absolute
}

// A file that is still to be written is where its folder is; a link to nothing may lead anywhere.
function realpathOfNearest(absolute) {
  return realpath(absolute).catch(async (error) => {
    const isLink = await lstat(absolute).then(
      () => true,
      () => false,
    )
    if (error.code !== 'ENOENT' || isLink) throw error
    return join(await realpathOfNearest(dirname(absolute)), basename(absolute))
  })
}
