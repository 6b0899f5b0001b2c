import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const made = mkdtempSync(join(memoryPlace() ?? tmpdir(), 'toolable-files-'))
afterAll(() => rmSync(made, { recursive: true, force: true }))

/**
 * A new empty folder that is removed after the tests of this file; in memory where the machine has
 * such a place, because thousands of commits wait for nothing but the disk.
 */
export function makeRoot(): string {
  return mkdtempSync(join(made, 'root-'))
}

function memoryPlace(): string | undefined {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return undefined
  }
}
