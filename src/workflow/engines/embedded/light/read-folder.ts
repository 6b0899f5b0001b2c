import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { writeAtomically } from '../../../../runner/folder/write-atomically.ts'
import { diskProblem } from '../../../../runner/log/disk-problem.ts'
import { readIndex, writeCovered, writeListed } from './index-line.ts'
import type { Listed } from './index-line.ts'
import { listSegments, segmentPaths } from './light-paths.ts'
import type { LightPaths } from './light-paths.ts'
import { scanSegment } from './scan-segment.ts'
import { ownerOf } from './segment-lock.ts'

/** Everything that a folder knows of its executions, by id. What the index does not know yet is read from the segments, and noted where nobody is at work on it. */
export async function readFolder(paths: LightPaths): Promise<Map<string, Listed>> {
  // Before the segments, which only grow: one that is shorter than the index says has lost what the machine had not written yet.
  const known = readIndex(readText(paths.index))
  const segments = listSegments(paths).map((name) => ({
    name,
    path: segmentPaths(paths, name).journal,
  }))
  const sizes = new Map(
    segments.map(({ name, path }) => [name, statSync(path, { throwIfNoEntry: false })?.size ?? 0]),
  )
  const isSound =
    known !== undefined &&
    [...known.covered].every(([name, to]) => (sizes.get(name) ?? Infinity) >= to)
  const { listed, covered } = isSound
    ? known
    : { listed: new Map<string, Listed>(), covered: new Map<string, number>() }
  let news = ''
  for (const { name, path } of segments) {
    const from = covered.get(name) ?? 0
    if (sizes.get(name)! <= from) continue
    let lines = ''
    const to = await scanSegment(path, name, from, listed, (one) => {
      lines += writeListed(one, name, one.s && { s: one.s, at: one.end! })
    })
    // Whoever is at work notes it himself, when it is on the disk.
    if (to > from && !ownerOf(segmentPaths(paths, name)))
      news += lines + writeCovered({ j: name, from, to })
  }
  if (!isSound) note(() => writeAtomically(paths.index, news))
  else if (news !== '') note(() => appendToIndex(paths, news))
  return listed
}

/** Adds whole lines to the index, in one piece: others write there too. */
export function appendToIndex({ index }: LightPaths, text: string): void {
  const fd = openSync(
    index,
    constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    0o600,
  )
  try {
    writeSync(fd, text)
  } finally {
    closeSync(fd)
  }
}

// It can be made anew at any time: whoever cannot write it reads a little more next time.
function note(write: () => void): void {
  try {
    write()
  } catch {
    /* a full disk, or a folder that is not ours */
  }
}

// A link would lead elsewhere, and counts as nothing.
function readText(file: string): string {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : ''
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw diskProblem(error, `cannot read ${file}`)
  }
}
