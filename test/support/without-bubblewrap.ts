import { launch } from './run-program.ts'
import type { Ended, RunOptions } from './run-program.ts'
import { TOOLABLE_PATH } from './toolable-program.ts'

/** Runs `toolable` where nothing lies at the place of bubblewrap, whatever the PATH says. */
export function withoutBubblewrap(
  args: readonly string[],
  cwd: string,
  options: RunOptions = {},
): Promise<Ended> {
  return launch(
    'bwrap',
    [
      '--dev-bind',
      '/',
      '/',
      '--ro-bind',
      '/dev/null',
      '/usr/bin/bwrap',
      '--',
      process.execPath,
      TOOLABLE_PATH,
      ...args,
    ],
    { ...options, cwd },
  ).ended
}
