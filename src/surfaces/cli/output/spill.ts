import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

/** Makes a spill that writes into a new private directory below `parent`, which is the temporary directory of the platform. The directory stays: somebody will read it. */
export function createSpill(parent: string = tmpdir()): (name: string, text: string) => string {
  let directory: string | undefined
  return (name, text) => {
    // mkdtemp makes the directory with mode 0700.
    directory ??= mkdtempSync(join(parent, 'toolable-'))
    const path = join(directory, basename(name))
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
}
