import type { Runner, RunnerOptions } from './runner-type.ts'

/** Opens a runner: runs tools of a registry supervised, sandboxed and on record, so many at the same time. What it needs is loaded when the first run starts. */
export function runner(options: RunnerOptions): Runner {
  const opened = import('./runner.ts').then(({ openRunner }) => openRunner(options))
  // Told by the first call.
  opened.catch(() => undefined)
  return {
    start: async (tool, given, how) => (await opened).start(tool, given, how),
    close: async () => (await opened).close(),
  }
}
