import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createExclusively, readText, setAside } from '../../../../call/exclusive-file.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { look, ourselves, readOwner } from '../../../../runner/folder/owner.ts'
import { diskProblem } from '../../../../runner/log/disk-problem.ts'
import type { LightPaths } from './light-paths.ts'

const LOOK_AGAIN_MS = 20
const LONGEST_MS = 30_000

/** Holds an id that a caller chose until its begin is on record, so that two processes do not begin it both. Waits while somebody else does so; throws CONFLICT where that takes too long. */
export async function claimId({ folder }: LightPaths, id: string): Promise<() => void> {
  const file = join(folder, `${id}.claim`)
  const mine = `${JSON.stringify(ourselves())}\n`
  try {
    for (
      const end = performance.now() + LONGEST_MS;
      !createExclusively(file, mine, { flush: false });
    ) {
      const found = readText(file)
      const owner = found === undefined ? undefined : readOwner(found)
      if (found !== undefined && (!owner || look(owner) === 'dead')) setAside(file, found)
      else if (performance.now() > end)
        throw new ToolError(
          'CONFLICT',
          `${id} is being started by ${owner ? `process ${owner.pid} on ${owner.machine}` : 'another process'}`,
        )
      else await sleep(LOOK_AGAIN_MS)
    }
  } catch (error) {
    throw diskProblem(error, `cannot claim ${id}`)
  }
  return () => rmSync(file, { force: true })
}
