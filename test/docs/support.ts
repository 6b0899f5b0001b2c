import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runProgram } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'

/** Runs `docs` of the fixture in a folder; `now` is what it has become in the meantime. */
export function docs(folder: string, args: readonly string[], now = 'first'): Promise<Ended> {
  return runProgram('documented.mjs', ['docs', ...args], { cwd: folder, env: { DOCUMENTED: now } })
}

/** Every file in a folder with its text, the ones that begin with a dot included. */
export function filesIn(folder: string): { [path: string]: string } {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}
