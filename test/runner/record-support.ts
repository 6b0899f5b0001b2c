import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { createRun } from '../../src/runner/run-folder.ts'
import type { RunPaths } from '../../src/runner/run-paths.ts'
import type { RunRequest } from '../../src/runner/request.ts'
import type { RunEvent } from '../../src/protocol/run-state.ts'
import { fixture, launch, makeFolder } from '../support/run-program.ts'
import type { Running } from '../support/run-program.ts'

const bundled = new Map<string, string>()

/** A new folder of runs. */
export function makeRoot(): string {
  return join(makeFolder(), '.runs')
}

/** What a run of nothing in particular is asked to do. */
export function requestOf(run_id: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    v: 1,
    run_id,
    tool: 'fixtures.nothing',
    created: new Date().toISOString(),
    args: [],
    cwd: '/',
    timeout_s: 60,
    heartbeat_grace_s: 60,
    retries: 0,
    trace_id: 't-1',
    idempotency_key: run_id,
    ...more,
  }
}

/** A new run in a folder. */
export function makeRun(root: string = makeRoot(), more: Partial<RunRequest> = {}): RunPaths {
  return createRun(root, (id) => requestOf(id, more))
}

/** A new run in a folder that this process does not claim, for another one to run. */
export function makeFreeRun(root: string = makeRoot()): RunPaths {
  const paths = makeRun(root)
  rmSync(paths.lock)
  return paths
}

/**
 * Starts a fixture of test/fixtures/runs, behind other programs where they are named. It is bundled
 * with the sources that it uses, because it is started often.
 */
export function startRunner(
  name: string,
  args: readonly string[],
  behind: readonly string[] = [],
): Running {
  if (!bundled.has(name)) {
    const outfile = join(makeFolder(), name)
    buildSync({
      entryPoints: [fixture(`runs/${name}`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    })
    bundled.set(name, outfile)
  }
  const [command, ...rest] = [...behind, process.execPath, bundled.get(name)!, ...args]
  // One thread does what touches files, so that whoever counts calls counts all of them.
  return launch(command!, rest, { env: { UV_THREADPOOL_SIZE: '1' } })
}

/** The events of a log, each line one; throws where a line is none. */
export function eventsOf(file: string): RunEvent[] {
  const text = readFileSync(file, 'utf8')
  if (text !== '' && !text.endsWith('\n')) throw new Error(`torn: ${text.slice(-100)}`)
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as RunEvent)
}

/** Whether the numbers of events are 1, 2, 3 and so on. */
export function isGapless(events: readonly RunEvent[]): boolean {
  return events.every(({ seq }, index) => seq === index + 1)
}
