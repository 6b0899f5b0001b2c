import { closeSync, fsync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { WITHOUT_LINKS } from '../../call/exclusive-file.ts'
import { host } from '../../call/host.ts'

/** Puts a text into a file such that the old one or the new one is there at any moment, whole. `lasting`: it goes to the disk at once, but nobody waits for that. */
export function writeAtomically(file: string, text: string, lasting = false): void {
  withTemporary(file, text, lasting, (temporary) => { renameSync(temporary, file) })
}

/** Creates a file that is there whole or not at all, for as long as this machine runs; false when there is one already. */
export function createAtomically(file: string, text: string): boolean {
  return withTemporary(file, text, false, (temporary) => {
    try {
      linkSync(temporary, file)
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return false
      if (!WITHOUT_LINKS.includes(code ?? '')) throw error
      return createPlainly(file, text)
    }
  })
}

function withTemporary<Result>(file: string, text: string, lasting: boolean, place: (temporary: string) => Result): Result {
  const temporary = `${file}.${host.pid}-${counter++}.tmp`
  try {
    const fd = openSync(temporary, 'wx', 0o600)
    try {
      writeWhole(fd, text)
      return place(temporary)
    } finally {
      if (lasting) fsync(fd, () => { closeSync(fd) })
      else closeSync(fd)
    }
  } finally {
    rmSync(temporary, { force: true })
  }
}

function createPlainly(file: string, text: string): boolean {
  try {
    const fd = openSync(file, 'wx', 0o600)
    writeWhole(fd, text)
    closeSync(fd)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let sent = 0; sent < bytes.length;) sent += writeSync(fd, bytes, sent)
}

let counter = 0
