import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../../../contract/tool-error.ts'
import type { Execution } from '../../engine-type.ts'
import type { LightPaths } from './light-paths.ts'
import { segmentPaths } from './light-paths.ts'
import { findExecution } from './look-up.ts'
import { ownerOf } from './segment-lock.ts'

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_AWAY_MS = 500

/** Waits for the end of an execution that another process has. Where that dies, `takeOver` goes on with it. */
export async function followToEnd(
  paths: LightPaths,
  id: string,
  takeOver: () => Promise<Execution | undefined>,
): Promise<Execution> {
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, LONGEST_LOOK_AWAY_MS)) {
    const found = await findExecution(paths, id)
    if (!found)
      throw new ToolError('CONFLICT', `${id} goes on elsewhere, as a run of its own`, {
        suggestion: `toolable watch ${id}`,
      })
    if (found.execution.ended !== undefined) return found.execution
    if (!ownerOf(segmentPaths(paths, found.listed.j))) {
      const mine = await takeOver().catch((error: unknown) => {
        // Somebody else was faster.
        if (!ToolError.is(error) || error.code !== 'CONFLICT') throw error
      })
      if (mine) return mine
    }
    await sleep(pause)
  }
}
