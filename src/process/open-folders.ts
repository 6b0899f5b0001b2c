import { closeSync, constants, lstatSync, openSync } from 'node:fs'
import { relative, sep } from 'node:path'

/** A descriptor that only stands for a place, which needs no right to read it. */
const ONLY_PLACE = 0o10000000

/** Opens a folder below another one, and lets `make` make what is missing on the way. Each step begins at the folder that was opened before it and follows no link, so that nobody who may write there can lead it elsewhere. Linux only. */
export function openFolders(
  outer: string,
  path: string,
  make: (step: string, isLast: boolean) => void = () => undefined,
): number {
  const flags = ONLY_PLACE | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const names = relative(outer, path)
    .split(sep)
    .filter((name) => name !== '')
  let folder = openSync(outer, flags)
  names.forEach((name, index) => {
    const above = folder
    const step = inside(above, name)
    try {
      if (!lstatSync(step, { throwIfNoEntry: false })) make(step, index === names.length - 1)
      folder = openSync(step, flags)
    } finally {
      closeSync(above)
    }
  })
  return folder
}

/** What lies in a folder that is open. */
export function inside(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`
}
