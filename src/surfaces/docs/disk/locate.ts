import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'

/** Where a file of a folder really is or would be: links are followed as long as they stay in the folder. Throws where nothing can be written. */
export async function locate(folder: string, path: string): Promise<string> {
  const root = await realFolder(folder)
  const names = path.split('/')
  let place = root
  for (const [index, name] of names.entries()) {
    const next = join(place, name)
    const found = await lstat(next).catch(isMissing)
    if (!found) return join(place, ...names.slice(index))
    place = found.isSymbolicLink() ? await follow(next, root, path) : next
    const real = found.isSymbolicLink() ? await lstat(place) : found
    if (index < names.length - 1 && !real.isDirectory())
      throw new ToolError('CONFLICT', `${place} is not a folder, so ${path} cannot be written`, {
        details: { path: place },
      })
    if (index === names.length - 1 && !real.isFile())
      throw new ToolError(
        'CONFLICT',
        `${place} is ${real.isDirectory() ? 'a folder' : 'not a regular file'}, so it cannot be written`,
        { details: { path: place } },
      )
  }
  return place
}

// A folder that is not there yet will be made in the nearest one that is.
async function realFolder(folder: string): Promise<string> {
  const missing: string[] = []
  for (let place = resolve(folder); ; place = dirname(place)) {
    const real = await realpath(place).catch(isMissing)
    if (real === undefined) missing.unshift(basename(place))
    else if ((await lstat(real)).isDirectory()) return join(real, ...missing)
    else
      throw new ToolError('CONFLICT', `${place} is not a folder`, {
        details: { path: place },
        field: 'out',
      })
  }
}

async function follow(link: string, root: string, path: string): Promise<string> {
  const real = await realpath(link).catch(isMissing)
  if (real === undefined)
    throw new ToolError(
      'CONFLICT',
      `${link} is a link that leads nowhere, so ${path} cannot be written`,
      { details: { path: link } },
    )
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return real
  throw new ToolError('PERMISSION', `${link} leads out of ${root}: ${path} is not written there`, {
    details: { path: link, target: real },
    suggestion: 'Write where it leads, with --out, or replace the link',
  })
}

function isMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
  throw error
}
