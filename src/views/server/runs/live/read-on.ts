import type { FileHandle } from 'node:fs/promises'
import { openOrdinary } from '../../../../runner/log/open-ordinary.ts'
import { readWholeLines } from '../../../../runner/log/whole-lines.ts'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import type { RunFacts } from '../row/facts.ts'
import { startStanding } from '../row/standing.ts'
import type { Standing } from '../row/standing.ts'
import { takeLines } from '../row/take-lines.ts'
import { startSlices } from '../slices.ts'

/** Reads what stands in a record from a place on into where its run stands; gives the place up to which there are whole lines. */
export async function readOn(
  file: FileHandle,
  from: number,
  standing: Pick<Standing, 'add'>,
): Promise<number> {
  const slices = startSlices()
  let end = from
  for await (const piece of readWholeLines(file, from)) {
    takeLines(standing, piece.bytes.toString('utf8'))
    end = piece.end
    await slices.rest()
  }
  return end
}

/** Where a run stands, from its whole record. A record that cannot be read says nothing. */
export async function scanRun(paths: RunPaths, facts: RunFacts): Promise<Standing> {
  const standing = startStanding(facts)
  const file = await openOrdinary(paths.events).catch(() => undefined)
  if (!file) return standing
  try {
    await readOn(file, 0, standing)
  } catch {
    /* what was read counts */
  } finally {
    await file.close()
  }
  return standing
}
