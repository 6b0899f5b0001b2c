/**
 * The runner: runs a tool as a supervised process or call, in a sandbox, and records everything in a run folder.
 *
 * This file is the public entry; it loads the rest when the first run starts. Read the rest in this order: request.ts (what a run is
 * asked to do), run-folder.ts and lock.ts (where it is recorded and who owns it), perform-run.ts (all attempts of a run), prepare.ts
 * (what is decided before an attempt), attempt.ts (one attempt under supervision), start-target.ts and tool-output.ts (starting a tool
 * and reading its output), attempt-outcome.ts (what the attempt amounts to), event-log.ts (the record).
 */

import type { Runner, RunnerOptions } from './request.ts'

/**
 * Opens a runner: runs tools of a registry supervised, sandboxed and on record, so many at the same
 * time. What it needs is loaded when the first run starts.
 */
export function runner(options: RunnerOptions): Runner {
  const opened = import('./create-runner.ts').then(({ createRunner }) => createRunner(options))
  // The first call reports it.
  opened.catch(() => undefined)
  return {
    start: async (tool, given, how) => (await opened).start(tool, given, how),
    close: async () => (await opened).close(),
  }
}
