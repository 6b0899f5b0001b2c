import { resolve } from 'node:path'
import type { Filesystem } from '../../contract/filesystem.ts'
import type { Transactional } from '../../contract/state.ts'
import { openLate } from './late.ts'
import type { FolderFilesOptions } from './options.ts'

/** The files of a folder, which roll back when a call fails: for `createState({ filesystem })`. The folder has to be there. No path and no link leads out of it. */
export function folderFiles(
  root: string,
  options: FolderFilesOptions = {},
): Transactional<Filesystem> {
  // Where it lies is decided now, wherever the process goes later.
  const place = resolve(root)
  const late = openLate(async () => {
    const { openFolder } = await import('./folder/open.ts')
    return openFolder(place, options)
  })
  return { begin: late.begin }
}
