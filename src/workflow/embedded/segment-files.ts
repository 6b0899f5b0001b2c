/**
 * Files of segments, and the lease by which one process owns a segment.
 */

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { toDiskError } from '../../runner/files.ts'
import type { ProcessOwner } from '../../runner/lock.ts'
import { getCurrentOwner, getOwnerLiveness, parseOwner } from '../../runner/lock.ts'
import { ensureRunsFolder } from '../../runner/run-folder.ts'
import { hasErrorCode, readTextFile } from '../../util/files.ts'
import {
  releaseLockFile,
  takeLockFile,
  writeFileAtomic,
  writeTemporaryFile,
} from '../../util/lock-file.ts'
import { MINUTE_MS } from '../../util/units.ts'
import { compact } from '../../util/values.ts'

/** The paths of executions without a run folder. */
export type InlinePaths = {
  /** The folder of the runs. */
  readonly root: string
  readonly folder: string
  /** The index of the segments; can be rebuilt from them. */
  readonly index: string
  /** A file in it asks to cancel the execution that it is named after. */
  readonly cancels: string
}

const SEGMENT_FILE_PATTERN = /^(j-[0-9a-z]+-[0-9a-f]{8})\.jsonl$/

/** The paths below a folder of runs. */
export function getInlinePaths(root: string): InlinePaths {
  const folder = join(root, 'workflows')
  return { root, folder, index: join(folder, 'index.jsonl'), cancels: join(folder, 'cancel') }
}

/** Creates the folders, for their owner only. */
export function ensureInlineFolder({ root, folder }: InlinePaths): void {
  try {
    ensureRunsFolder(root)
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw toDiskError(error, `cannot make ${folder}`)
  }
}

/** A file of records that the executions of one process share. */
type SegmentPaths = { readonly name: string; readonly journal: string; readonly lock: string }

/** The paths of a segment. */
export function getSegmentPaths({ folder }: InlinePaths, name: string): SegmentPaths {
  return { name, journal: join(folder, `${name}.jsonl`), lock: join(folder, `${name}.lock`) }
}

/** A unique name: the time, so that names sort, and a random part. */
export function createSegmentName(now: number): string {
  return `j-${now.toString(36)}-${createRandomHex(4)}`
}

function createRandomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}

/** The names of the segments that there are, oldest first. */
export function listSegments({ folder }: InlinePaths): string[] {
  try {
    return readdirSync(folder)
      .flatMap((file) => SEGMENT_FILE_PATTERN.exec(file)?.[1] ?? [])
      .sort()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw toDiskError(error, `cannot read ${folder}`)
  }
}

/**
 * Processes on another machine cannot be checked, so a lock that was not renewed for this long is
 * free.
 */
export const LEASE_MS = MINUTE_MS
const RENEW_INTERVAL_MS = LEASE_MS / 4

/** The right to write a segment, and so to continue its executions. */
export type SegmentLock = {
  /**
   * Throws CONFLICT if the lease ran out and another process has it. Costs nothing while it is
   * fresh.
   */
  check(): void
  release(): void
}

/**
 * Takes the lock of a segment and renews it. Throws CONFLICT, with the process and its machine,
 * while another process has it.
 */
export function lockSegment(paths: SegmentPaths): SegmentLock {
  // Two engines of one process are two owners.
  const mine = `${JSON.stringify({ ...getCurrentOwner(), key: createRandomHex(8) })}\n`
  acquireSegmentLock(paths, mine)
  let renewed = readClocks()
  let lost: ToolError | undefined
  const renew = (): void => {
    if (readTextFile(paths.lock) !== mine) {
      lost = createSegmentConflict(paths)
      return
    }
    try {
      // Rewritten, so that its time comes from the file system, which all machines share.
      writeFileAtomic(paths.lock, mine)
      renewed = readClocks()
    } catch {
      /* a full disk: it is tried again, and until the lease runs out nobody takes it */
    }
  }
  const timer = setInterval(renew, RENEW_INTERVAL_MS).unref()
  return {
    check() {
      if (
        lost === undefined &&
        readClocks().some((time, index) => time - renewed[index]! > LEASE_MS)
      )
        renew()
      if (lost) throw lost
    },
    release() {
      clearInterval(timer)
      releaseLockFile(paths.lock, mine)
    },
  }
}

// One of them stops while the machine sleeps, the other can be set back.
function readClocks(): readonly number[] {
  return [performance.now(), Date.now()]
}

/** The owner of a segment; undefined if it has none, or the owner is gone. */
export function getSegmentOwner(paths: SegmentPaths): ProcessOwner | undefined {
  const text = readTextFile(paths.lock)
  const owner = text === undefined ? undefined : parseOwner(text)
  if (!owner) return undefined
  const sight = getOwnerLiveness(owner)
  return sight === 'alive' || (sight === 'elsewhere' && getSilenceMs(paths) < LEASE_MS)
    ? owner
    : undefined
}

/** The error for something that another process has. */
export function createSegmentConflict(
  paths: SegmentPaths,
  what = paths.name,
  owner = getSegmentOwner(paths),
): ToolError {
  const who = owner
    ? `process ${owner.pid} on ${owner.machine === '' ? 'this machine' : owner.machine}`
    : 'another process'
  return new ToolError('CONFLICT', `${what} is held by ${who}`, {
    suggestion: 'Wait for it, or end that process first',
    details: compact({ segment: paths.name, pid: owner?.pid, machine: owner?.machine }),
  })
}

function acquireSegmentLock(paths: SegmentPaths, mine: string): void {
  let taken
  try {
    taken = takeLockFile(paths.lock, mine, () => (getSegmentOwner(paths) ? 'held' : 'stale'))
  } catch (error) {
    throw toDiskError(error, `cannot lock ${paths.name}`)
  }
  if (taken) throw createSegmentConflict(paths)
}

// Both times are of the file system.
function getSilenceMs({ lock }: SegmentPaths): number {
  const probe = writeTemporaryFile(lock, '', { flush: false })
  try {
    return statSync(probe).mtimeMs - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  } finally {
    rmSync(probe, { force: true })
  }
}
