import { fileURLToPath } from 'node:url'
import { launch, sourceOf } from './run-program.ts'
import type { Ended, RunOptions, Running } from './run-program.ts'

/** The command `toolable` as it is built. */
export const bin = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))

/** Begins to build a fixture of test/fixtures/build into a folder. */
export function beginBuild(entry: string, out: string, more: readonly string[] = [], options: RunOptions = {}): Running {
  return launch(process.execPath, [bin, 'build', sourceOf(`build/${entry}`), '--out', out, ...more], { longest: 300_000, ...options })
}

/** Builds a fixture, to the end. */
export function build(entry: string, out: string, ...more: string[]): Promise<Ended> {
  return beginBuild(entry, out, more).ended
}

/** Runs a program that was built. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return launch(program, args, options).ended
}
