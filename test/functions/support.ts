import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder, runProgram, startProgram } from '../support/run-program.ts'
import type { Ended, Running, RunOptions } from '../support/run-program.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

/** One cache for all tests of a file: what one has compiled, the others load. */
export const cache = makeFolder()

/** Where the modules of the tests are. */
export const fixtures = fileURLToPath(new URL('./fixtures', import.meta.url))

/** Packages of others, which were not written for this. */
export const packages = fileURLToPath(new URL('./packages', import.meta.url))

/** Runs `toolable` among the modules of the tests; all of a file share one cache. */
export function toolable(
  args: readonly string[],
  { env, ...options }: RunOptions = {},
): Promise<Ended> {
  return runProgram(TOOLABLE, args, {
    cwd: fixtures,
    ...options,
    env: { XDG_CACHE_HOME: cache, ...env },
  })
}

/** Starts it and lets the test talk to it. */
export function startToolable(
  args: readonly string[],
  { env, ...options }: RunOptions = {},
): Running {
  return startProgram(TOOLABLE, args, {
    cwd: fixtures,
    ...options,
    env: { XDG_CACHE_HOME: cache, ...env },
  })
}

/** Writes a project into a new folder; gives the folder. */
export function writeProject(files: { readonly [name: string]: string }): string {
  const folder = makeFolder()
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
