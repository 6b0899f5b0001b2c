import { closeSync, fsync, openSync, renameSync } from 'node:fs'
import { writeTemporary } from '../../call/exclusive-file.ts'

/** Puts a text into a file such that the old one or the new one is there at any moment, whole. `lasting`: it goes to the disk at once, but nobody waits for that. */
export function writeAtomically(file: string, text: string, lasting = false): void {
  renameSync(writeTemporary(file, text, { flush: false }), file)
  if (!lasting) return
  const fd = openSync(file, 'r')
  fsync(fd, () => {
    closeSync(fd)
  })
}
