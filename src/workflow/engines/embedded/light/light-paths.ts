import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepareRoot } from '../../../../runner/folder/create-run.ts'
import { diskProblem } from '../../../../runner/log/disk-problem.ts'

/** Where executions are that have no folder of their own. */
export type LightPaths = {
  /** The folder of the runs. */
  readonly root: string
  readonly folder: string
  /** What is in the segments, in short; can be made anew from them. */
  readonly index: string
  /** A file in it asks for the end of the execution that it is named after. */
  readonly cancels: string
}

const SEGMENT = /^(j-[0-9a-z]+-[0-9a-f]{8})\.jsonl$/

/** The paths below a folder of runs. */
export function lightPaths(root: string): LightPaths {
  const folder = join(root, 'workflows')
  return { root, folder, index: join(folder, 'index.jsonl'), cancels: join(folder, 'cancel') }
}

/** Makes the folders, for their owner only. */
export function prepareFolder({ root, folder }: LightPaths): void {
  try {
    prepareRoot(root)
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw diskProblem(error, `cannot make ${folder}`)
  }
}

/** A file of records that the executions of one process share. */
export type SegmentPaths = {
  readonly name: string
  readonly journal: string
  readonly lock: string
}

/** The paths of a segment. */
export function segmentPaths({ folder }: LightPaths, name: string): SegmentPaths {
  return { name, journal: join(folder, `${name}.jsonl`), lock: join(folder, `${name}.lock`) }
}

/** A name that no segment has: the time, so that they sort, and chance. */
export function newSegmentName(now: number): string {
  return `j-${now.toString(36)}-${Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')}`
}

/** The names of the segments that there are, oldest first. */
export function listSegments({ folder }: LightPaths): string[] {
  try {
    return readdirSync(folder)
      .flatMap((file) => SEGMENT.exec(file)?.[1] ?? [])
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskProblem(error, `cannot read ${folder}`)
  }
}
