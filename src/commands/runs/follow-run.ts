import { isOver, transition, QUEUED } from '../../contract/run-state.ts'
import type { RunEvent, RunStanding } from '../../contract/run-state.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { recover } from '../../runner/folder/recover.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { readBatches } from '../../runner/log/read-log.ts'

/** The events of a run until it is over, whoever ends it: where its runner dies meanwhile, the record is finished and read to its end. */
export async function* followRun(
  root: string,
  paths: RunPaths,
  signal: AbortSignal,
): AsyncGenerator<RunEvent[]> {
  let standing: RunStanding = QUEUED
  let seen = 0
  const follow = async function* (more: boolean): AsyncGenerator<RunEvent[]> {
    for await (const events of readBatches(paths.events, {
      follow: more,
      from: seen + 1,
      signal,
      isComplete: () => !isLive(paths),
    })) {
      for (const event of events) standing = transition(standing, event) ?? standing
      seen = events.at(-1)!.seq
      yield events
    }
  }
  yield* follow(true)
  if (isOver(standing.state) || signal.aborted) return
  await recover(root)
  yield* follow(false)
}
