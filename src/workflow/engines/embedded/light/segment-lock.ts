import { rmSync, statSync } from 'node:fs'
import {
  createExclusively,
  readText,
  setAside,
  writeTemporary,
} from '../../../../call/exclusive-file.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { look, ourselves, readOwner } from '../../../../runner/folder/owner.ts'
import type { Owner } from '../../../../runner/folder/owner.ts'
import { writeAtomically } from '../../../../runner/folder/write-atomically.ts'
import { diskProblem } from '../../../../runner/log/disk-problem.ts'
import type { SegmentPaths } from './light-paths.ts'

/** Nobody sees into another machine: what its owner has not renewed for so long is nobody's. */
export const LEASE_MS = 60_000
const RENEW_MS = 15_000
const MOST_TRIES = 20

/** The right to write a segment, and so to go on with its executions. */
export type SegmentLock = {
  /** Throws CONFLICT where the lease ran out and somebody else has it. Costs nothing as long as it is fresh. */
  check(): void
  release(): void
}

/** Takes the lock of a segment and keeps it. Throws CONFLICT, with the process and its place, while somebody has it. */
export function lockSegment(paths: SegmentPaths): SegmentLock {
  // Two engines of one process are two owners.
  const mine = `${JSON.stringify({ ...ourselves(), key: Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString('hex') })}\n`
  take(paths, mine)
  let renewed = times()
  let lost: ToolError | undefined
  const renew = (): void => {
    if (readText(paths.lock) !== mine) {
      lost = conflict(paths)
      return
    }
    try {
      // Written anew, so that the time is that of the file system, which all machines see.
      writeAtomically(paths.lock, mine)
      renewed = times()
    } catch {
      /* a full disk: it is tried again, and until the lease runs out nobody takes it */
    }
  }
  const timer = setInterval(renew, RENEW_MS).unref()
  return {
    check() {
      if (lost === undefined && times().some((time, index) => time - renewed[index]! > LEASE_MS))
        renew()
      if (lost) throw lost
    },
    release() {
      clearInterval(timer)
      if (readText(paths.lock) === mine) rmSync(paths.lock, { force: true })
    },
  }
}

// One of them stands still while the machine sleeps, the other can be set back.
function times(): readonly number[] {
  return [performance.now(), Date.now()]
}

/** Who has a segment; undefined where nobody has, or whoever had is gone. */
export function ownerOf(paths: SegmentPaths): Owner | undefined {
  const text = readText(paths.lock)
  const owner = text === undefined ? undefined : readOwner(text)
  if (!owner) return undefined
  const sight = look(owner)
  return sight === 'alive' || (sight === 'elsewhere' && silence(paths) < LEASE_MS)
    ? owner
    : undefined
}

/** What is told whoever wants what somebody else has. */
export function conflict(
  paths: SegmentPaths,
  what = paths.name,
  owner = ownerOf(paths),
): ToolError {
  const who = owner
    ? `process ${owner.pid} on ${owner.machine === '' ? 'this machine' : owner.machine}`
    : 'another process'
  return new ToolError('CONFLICT', `${what} is held by ${who}`, {
    suggestion: 'Wait for it, or end that process first',
    details: { segment: paths.name, ...(owner && { pid: owner.pid, machine: owner.machine }) },
  })
}

function take(paths: SegmentPaths, mine: string): void {
  try {
    for (let tries = 0; !createExclusively(paths.lock, mine, { flush: false }); tries += 1) {
      const found = readText(paths.lock)
      const owner = ownerOf(paths)
      if (owner || tries > MOST_TRIES) throw conflict(paths, paths.name, owner)
      if (found !== undefined) setAside(paths.lock, found)
    }
  } catch (error) {
    throw diskProblem(error, `cannot lock ${paths.name}`)
  }
}

// Both times are of the file system.
function silence({ lock }: SegmentPaths): number {
  const probe = writeTemporary(lock, '', { flush: false })
  try {
    return statSync(probe).mtimeMs - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  } finally {
    rmSync(probe, { force: true })
  }
}
