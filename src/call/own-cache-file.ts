import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { host } from './host.ts'

const LARGEST = 256 * 1024 * 1024

/** The text of a file that only we can have written; undefined for every other: what others may write could tell us to run anything. */
export function readOwn(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    )
    const { mode, size, uid } = fstatSync(file)
    const isOurs = host.platform === 'win32' || (uid === host.uid && (mode & 0o022) === 0)
    return isOurs && (mode & constants.S_IFMT) === constants.S_IFREG && size <= LARGEST
      ? readFileSync(file, 'utf8')
      : undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Writes a file of a cache, at once or not at all. What cannot be written is not remembered, and that is all. */
export function writeWhole(folder: string, file: string, text: string): void {
  const fresh = `${file}.${host.pid}-${Math.random().toString(36).slice(2)}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, file)
  } catch {
    discard(fresh)
  }
}

function discard(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // Where nothing can be written there is nothing either.
  }
}
