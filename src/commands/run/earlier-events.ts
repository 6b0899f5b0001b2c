import { existsSync } from 'node:fs'
import type { RunEvent } from '../../contract/run-state.ts'
import { readBatches } from '../../runner/log/read-log.ts'
import type { SeenRun } from './view-part.ts'

/** What happened in earlier attempts of a run that goes on: it is part of the picture. */
export async function* earlierEvents({
  paths,
  resumed,
}: Pick<SeenRun, 'paths' | 'resumed'>): AsyncGenerator<readonly RunEvent[]> {
  if (resumed && existsSync(paths.events)) yield* readBatches(paths.events)
}
