import { fileURLToPath } from 'node:url'
import { launch, sourceOf } from './run-program.ts'
import type { Ended, RunOptions } from './run-program.ts'

/** The command `toolable` as it is built. */
export const bin = fileURLToPath(new URL('../../dist/bin.js', import.meta.url))

/** Builds a fixture of test/fixtures/build into a folder. */
export function build(entry: string, out: string, ...more: string[]): Promise<Ended> {
  return launch(
    process.execPath,
    [bin, 'build', sourceOf(`build/${entry}`), '--out', out, ...more],
    { longest: 300_000 },
  ).ended
}

/** Runs a program that was built. */
export function run(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  return launch(program, args, options).ended
}
