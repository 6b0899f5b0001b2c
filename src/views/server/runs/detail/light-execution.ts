import type { RunEvent } from '../../../../contract/run-state.ts'
import type { ExecutionRecords } from '../../../../workflow/engines/embedded/light/execution-records.ts'
import { lightPaths } from '../../../../workflow/engines/embedded/light/light-paths.ts'
import { findExecution } from '../../../../workflow/engines/embedded/light/look-up.ts'
import type { Execution } from '../../../../workflow/engines/engine-type.ts'
import { startLightEvents } from '../../../../workflow/run/light-events.ts'

/** An execution without a folder, and its story as events. */
export type LightExecution = {
  readonly execution: Execution
  readonly records: ExecutionRecords
  readonly events: readonly RunEvent[]
}

/** Reads an execution that has no folder; undefined where there is none. */
export async function readLight(root: string, id: string): Promise<LightExecution | undefined> {
  const found = await findExecution(lightPaths(root), id)
  if (!found) return undefined
  const records = found.records()
  const told = startLightEvents(id)
  const events = [records.begin, ...records.records].flatMap((record) => told.of(record))
  const isLeft = found.execution.error && found.execution.ended === undefined
  return {
    execution: found.execution,
    records,
    events: isLeft ? [...events, ...told.interrupted()] : events,
  }
}
