import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { host } from './host.ts'

/** Creates a file that appears whole or not at all, where the file system can do that; false when there is one already. Without `flush` it may be gone when the machine itself fails. */
export function createExclusively(file: string, text: string, { flush = true } = {}): boolean {
  const temporary = writeTemporary(file, text, { flush })
  try {
    linkSync(temporary, file)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!WITHOUT_LINKS.includes(code ?? '')) throw error
    return createDirectly(file, text, flush)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** What file systems say that have no hard links: some of USB sticks, networks and virtual machines. */
export const WITHOUT_LINKS: readonly string[] = [
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]

function createDirectly(file: string, text: string, flush: boolean): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Writes a file of a name that nobody else uses, in the folder of another; gives its path. */
export function writeTemporary(
  file: string,
  text: string,
  { mode = 0o600, flush = true } = {},
): string {
  const temporary = `${file}.${host.pid}-${counter++}.tmp`
  try {
    writeFileSync(temporary, text, { mode, flush })
    return temporary
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Takes a dead owner's file out of the way. Renaming lets exactly one of several processes do it; one that came late has the new owner's file in its hands, and puts it back. */
export function setAside(file: string, dead: string | undefined): void {
  const aside = `${file}.${host.pid}-${counter++}.old`
  try {
    renameSync(file, aside)
    if (readText(aside) !== dead) linkSync(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

/** The text of a file, or undefined when it cannot be read. A pipe or a device is not read, because that might never end. */
export function readText(file: string): string | undefined {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  }
}

// Threads of one process have its number in common, and each counts for itself.
let counter = Math.floor(Math.random() * 1e9)
