import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../../../contract/tool-error.ts'
import { sortOut } from './execution-records.ts'
import type { ExecutionRecords } from './execution-records.ts'
import type { Listed } from './index-line.ts'
import { lightPaths, segmentPaths } from './light-paths.ts'
import { listOrphans } from './look-up.ts'
import { readFolder } from './read-folder.ts'
import { openSegment } from './segment.ts'
import { refuse } from './segments.ts'

/** An execution that nobody went on with, in our hands: nobody else takes it before it is given back. */
export type Adopted = ExecutionRecords & {
  /** Notes that it goes on as a run of its own, which has to be on the disk already; and gives its segment back. */
  moved(): Promise<void>
  /** Gives it back as it was. */
  release(): Promise<void>
}

// Others adopt what lies in the same file, one after the other.
const TRIES = 20
const TRY_AGAIN_MS = 50

/** The executions in a folder of runs that are not over and that no living process has. */
export async function findOrphans(root: string): Promise<readonly Listed[]> {
  return listOrphans(lightPaths(root), new Map())
}

/** Takes an execution whose process is gone, to make a run of it. Throws CONFLICT, with the process and its place, where somebody has it, and where it is over; NOT_FOUND; CONFIG for a file that is damaged. */
export async function adoptOrphan(
  root: string,
  id: string,
  now: () => number = Date.now,
): Promise<Adopted> {
  const paths = lightPaths(root)
  for (let tries = 1; ; tries += 1) {
    const listed = (await readFolder(paths)).get(id)
    if (!listed || listed.s !== undefined) return refuse(paths, id)
    const segment = await openSegment(paths, listed.j, { read: true }).catch((error: unknown) => {
      if (ToolError.is(error) && error.code === 'CONFLICT' && tries < TRIES) return undefined
      throw ToolError.is(error) && error.code === 'CONFLICT'
        ? new ToolError('CONFLICT', error.message.replace(listed.j, id), {
            ...(error.suggestion && { suggestion: error.suggestion }),
            details: { ...error.details, run_id: id },
          })
        : error
    })
    if (!segment) {
      await sleep(TRY_AGAIN_MS)
      continue
    }
    const one = sortOut(segment.records, segmentPaths(paths, listed.j).journal).get(id)
    if (!one || one.end || one.records.some(({ t }) => t === 'moved')) {
      await segment.close()
      return refuse(paths, id)
    }
    return {
      ...one,
      async moved() {
        const at = new Date(now()).toISOString()
        const position = segment.journal.append({ t: 'moved', w: id, at })
        segment.note(position, one.begin, { s: 'moved', at })
        await segment.close()
      },
      release: () => segment.close(),
    }
  }
}
