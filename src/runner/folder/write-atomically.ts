import { renameSync, rmSync } from 'node:fs'
import { writeTemporary } from '../../call/exclusive-file.ts'

/** Puts a text into a file such that the old one or the new one is there at any moment, whole. */
export function writeAtomically(file: string, text: string): void {
  const temporary = writeTemporary(file, text)
  try {
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
