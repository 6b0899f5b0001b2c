/**
 * `folderFiles`: commits the changes of a call to a folder on disk, all or nothing, and recovers
 * what a killed process left half done.
 */

import { realpathSync, statSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Filesystem, Transactional } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { hasErrorCode } from '../../util/files.ts'
import { releaseLockFile, takeLockFile } from '../../util/lock-file.ts'
import { DAY_MS, MEBIBYTE, MINUTE_MS } from '../../util/units.ts'
import { host } from '../host.ts'
import type { CommitPlan } from './commit-plan.ts'
import {
  applyPlan,
  createCommitPlan,
  finalizePlan,
  parsePlan,
  PLAN_FILE,
  revertPlan,
} from './commit-plan.ts'
import { Disk, ignoreErrors } from './disk.ts'
import type { FolderFilesOptions } from './read.ts'
import { resolveLimits } from './read.ts'
import type { CallStage, SeenEntries } from './staging.ts'
import { getOwnerTag, isOwnerGone, openFolderBase, openStage, toFingerprint } from './staging.ts'
import type { CallFiles, TreeNode } from './tree.ts'
import {
  CHANGES_FOLDER,
  createConflictError,
  EMPTY_FOLDER,
  toDiskError,
  withDiskErrors,
} from './tree.ts'
import type { CommittedChanges } from './view.ts'
import { FilesTransactionPart } from './view.ts'

/**
 * Opens a folder, and takes back what a process left half done in it. Throws CONFIG where there is
 * no folder.
 */
export function openFolderFiles(
  given: string,
  { flush = false, ...options }: FolderFilesOptions,
): Transactional<Filesystem> {
  const limits = resolveLimits(options)
  const disk = new Disk(resolveRoot(given))
  recoverIfNeeded(disk)
  return {
    begin({ readOnly }) {
      recoverIfNeeded(disk)
      const seen: SeenEntries | undefined = readOnly
        ? undefined
        : { things: new Map(), lists: new Map(), joined: [] }
      const stage = openStage(disk)
      const before = { ...EMPTY_FOLDER, origin: '' }
      const work: CallFiles = {
        root: before,
        base: openFolderBase(disk, seen),
        storage: stage.storage,
        readOnly,
        observed: new Set(),
        isOver: false,
      }
      const discard = async (): Promise<void> => {
        if (stage.isTried) await removeStage(disk, stage.folder)
      }
      return new FilesTransactionPart(work, limits, {
        async commit() {
          if (work.root !== before) return commitFolderChanges(disk, stage, work, seen!, flush)
          await discard()
          return undefined
        },
        discard,
      })
    },
  }
}

function recoverIfNeeded(disk: Disk): void {
  if (!disk.isHalfDone) return
  withDiskErrors('take back the unfinished changes in', disk.root, () => recoverFolder(disk))
  disk.isHalfDone = false
}

function resolveRoot(given: string): string {
  try {
    const root = realpathSync(given)
    if (statSync(root).isDirectory()) return root
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `cannot offer the files of '${given}': ${hasErrorCode(error, 'ENOENT') ? 'there is no such folder' : (error as Error).message}`,
      { cause: error, suggestion: 'Give the path of a folder that is there' },
    )
  }
  throw new ToolError('CONFIG', `cannot offer the files of '${given}': it is no folder`, {
    suggestion: 'Give the path of a folder',
  })
}

/**
 * Makes the changes of a call in the root, all or none. Until it is ended nobody else commits, so
 * that all of it can be taken back.
 */
async function commitFolderChanges(
  disk: Disk,
  stage: CallStage,
  { root, observed: looked }: CallFiles,
  seen: SeenEntries,
  flush: boolean,
): Promise<CommittedChanges | undefined> {
  const { folder } = stage
  let release: (() => void) | undefined
  let plan: CommitPlan | undefined
  let unpin: (() => void) | undefined
  const leave = (): Promise<void> => {
    release?.()
    return removeStage(disk, folder, unpin)
  }
  // The plan stays where it is: the next one to look at the folder goes on with it.
  const leaveBehind = (): void => {
    stage.leaveBehind()
    disk.isHalfDone = true
    unpin?.()
    release?.()
  }
  const undo = async (): Promise<void> => {
    try {
      if (plan) revertPlan(disk, folder, plan)
    } catch (error) {
      leaveBehind()
      throw new ToolError(
        'INTERNAL',
        `changes could not be taken back: ${(error as Error).message}`,
        {
          cause: error,
          suggestion: `Mend what is wrong with ${disk.root}; the next call takes them back`,
          details: { folder: `${disk.root}/${folder}` },
        },
      )
    }
    await leave()
  }
  try {
    stage.make()
    release = await acquireFolderLock(disk)
    unpin = disk.pin(['', CHANGES_FOLDER, folder])
    revertUnfinishedPlans(disk, folder)
    const made = createCommitPlan(root, (path, wanted) => recheckPath(disk, seen, path, wanted))
    recordJoinedFolders(seen, looked)
    for (const [path, was] of seen.things)
      if (was !== toFingerprint(disk.look(path))) throw createConflictError(path)
    if (made.plan.take.length + made.plan.put.length === 0) {
      await leave()
      return undefined
    }
    plan = made.plan
    applyPlan(disk, folder, plan, made.contents, flush)
  } catch (error) {
    await undo()
    throw toDiskError(error, 'change', CHANGES_FOLDER)
  }
  return {
    undo,
    async end() {
      try {
        finalizePlan(disk, folder)
      } catch (error) {
        leaveBehind()
        throw toDiskError(error, 'keep the changes in', CHANGES_FOLDER)
      }
      await leave()
    },
  }
}

// What a call decided, it decided by what it saw: when that has changed, the decision is void.
function recheckPath(
  disk: Disk,
  seen: SeenEntries,
  path: string,
  wanted: TreeNode | null,
): 'file' | 'other' | 'join' | undefined {
  const stats = disk.look(path)
  // What was never looked at lay in a folder that was not there.
  const was = seen.things.get(path) ?? null
  if (
    was === null &&
    stats?.isDirectory() &&
    wanted?.kind === 'folder' &&
    wanted.origin === undefined
  ) {
    seen.joined.push(path)
    return 'join'
  }
  if (was !== toFingerprint(stats)) throw createConflictError(path)
  const listed = wanted === null && stats?.isDirectory() ? seen.lists.get(path) : undefined
  if (listed && disk.names(path).toSorted().join('\0') !== listed.toSorted().join('\0'))
    throw createConflictError(path)
  return stats && (stats.isFile() ? 'file' : 'other')
}

// What lies in a folder that was not there, the call found missing without looking at it. Whoever
// asked for the folder itself has decided by its absence.
function recordJoinedFolders({ joined, things }: SeenEntries, looked: ReadonlySet<string>): void {
  for (const folder of joined) {
    if (!looked.has(folder)) things.delete(folder)
    for (const path of looked)
      if (path.startsWith(`${folder}/`) && !things.has(path)) things.set(path, null)
  }
}

const MAX_STAGE_SILENCE_MS = DAY_MS
const MAX_PLAN_BYTES = 256 * MEBIBYTE

/**
 * Takes back what processes left half done that died in the middle of a commit, and sweeps up after
 * them. What living ones are at is left alone.
 */
function recoverFolder(disk: Disk): void {
  if (
    disk
      .names(CHANGES_FOLDER)
      .some((name) => name === LOCK_FILE || disk.look(`${CHANGES_FOLDER}/${name}/${PLAN_FILE}`))
  ) {
    const { release } = tryFolderLock(disk)
    // Whoever has the lock knows better: plans are only made and ended under it.
    if (!release) return
    try {
      revertUnfinishedPlans(disk)
    } finally {
      release()
    }
  }
  sweepLeftovers(disk)
}

/** Takes back every commit that was not ended, apart from one's own. The lock has to be ours. */
function revertUnfinishedPlans(disk: Disk, own?: string): void {
  for (const name of disk.names(CHANGES_FOLDER)) {
    const folder = `${CHANGES_FOLDER}/${name}`
    const stats = folder === own ? undefined : disk.look(`${folder}/${PLAN_FILE}`)
    if (!stats) continue
    const plan =
      stats.isFile() && stats.size <= MAX_PLAN_BYTES
        ? parsePlan(Buffer.from(disk.read(`${folder}/${PLAN_FILE}`, 0, stats.size)).toString())
        : undefined
    if (!plan)
      throw new ToolError(
        'CONFIG',
        `'${folder}/${PLAN_FILE}' is no record of changes that this program wrote`,
        { suggestion: `Look at it, then remove the folder: rm -r '${disk.root}/${folder}'` },
      )
    if (plan !== 'torn') revertPlan(disk, folder, plan)
    disk.removeAll(folder)
  }
}

/**
 * Removes the place of one call, and the place of all changes when nobody needs it. What is left is
 * swept up by the next one.
 */
async function removeStage(disk: Disk, folder: string, unpin?: () => void): Promise<void> {
  try {
    // Before anybody else has a turn, nearly always: there are a few files and nothing else.
    const isRemoved = disk.removeSmall(folder)
    unpin?.()
    if (!isRemoved) await disk.removeSlowly(folder)
    removeEmptyChangesFolder(disk)
  } catch {
    // It holds nothing that anybody misses.
    unpin?.()
  }
}

// Removes the place of all changes when it is empty.
function removeEmptyChangesFolder(disk: Disk): void {
  const names = disk.names(CHANGES_FOLDER)
  if (names.some((name) => name !== '.gitignore')) return
  for (const name of names) ignoreErrors(['ENOENT'], () => disk.remove(`${CHANGES_FOLDER}/${name}`))
  ignoreErrors(['ENOENT', 'ENOTEMPTY', 'EEXIST'], () => disk.removeFolder(CHANGES_FOLDER))
}

function sweepLeftovers(disk: Disk): void {
  try {
    for (const name of disk.names(CHANGES_FOLDER)) {
      const stats = disk.look(`${CHANGES_FOLDER}/${name}`)
      if (stats && isLeftover(name, Date.now() - stats.mtimeMs))
        disk.removeAll(`${CHANGES_FOLDER}/${name}`)
    }
    removeEmptyChangesFolder(disk)
  } catch {
    /* a folder that may only be read, or another sweeper: nothing depends on it */
  }
}

function isLeftover(name: string, silence: number): boolean {
  // Names that the lock is known by for a moment, while it is made or taken over.
  const passing = new RegExp(`^${LOCK_FILE}\\.(\\d+)-\\d+\\.(tmp|old)$`).exec(name)
  if (passing) return !host.isAlive(Number(passing[1])) || silence > MAX_STAGE_SILENCE_MS
  return (
    name !== LOCK_FILE && name !== '.gitignore' && isOwnerGone(name, silence, MAX_STAGE_SILENCE_MS)
  )
}

/** The name of the lock in the place of changes. */
const LOCK_FILE = 'lock'

const LOCK_PATH = `${CHANGES_FOLDER}/${LOCK_FILE}`
const MAX_LOCK_WAIT_MS = 30_000
const MAX_LOCK_POLL_MS = 40
const LOCK_HEARTBEAT_MS = MINUTE_MS
const MAX_LOCK_SILENCE_MS = 10 * LOCK_HEARTBEAT_MS

// Threads of one process have its number in common, and each counts for itself.
let lockCounter = Math.floor(Math.random() * 1e9)

/**
 * Waits until nobody else commits to the root; gives what lets the next one do it. The place of
 * changes has to be there. Throws CONFLICT after half a minute.
 */
async function acquireFolderLock(disk: Disk): Promise<() => void> {
  const end = host.clock() + MAX_LOCK_WAIT_MS
  for (let nap = 1; ; nap = Math.min(2 * nap, MAX_LOCK_POLL_MS)) {
    const { release, holder } = tryFolderLock(disk)
    if (release) return release
    if (host.clock() > end) {
      throw new ToolError(
        'CONFLICT',
        `another call has been changing the same files for ${MAX_LOCK_WAIT_MS / 1000} seconds (process ${holder?.split('-')[3] ?? 'unknown'})`,
        {
          retryable: true,
          suggestion: `Wait for it. If there is no such process, remove ${disk.root}/${LOCK_PATH}`,
        },
      )
    }
    await sleep(nap)
  }
}

/** Takes the lock at once, or tells who has it. One whose process is gone has it no more. */
function tryFolderLock(disk: Disk): {
  readonly release?: () => void
  readonly holder?: string | undefined
} {
  const mine = `${getOwnerTag()}-${lockCounter++}\n`
  const take = (place: string): ReturnType<typeof takeLockFile> =>
    takeLockFile(place, mine, (holder) => {
      const silence = Date.now() - (statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0)
      return isOwnerGone(holder.trim(), silence, MAX_LOCK_SILENCE_MS) ? 'stale' : 'held'
    })
  const taken = withDiskErrors('lock', LOCK_PATH, () => disk.at(LOCK_PATH, take))
  return taken ? { holder: taken.found } : { release: holdLock(disk, mine) }
}

function holdLock(disk: Disk, mine: string): () => void {
  const alive = setInterval(
    () =>
      ignoreFailure(() => disk.at(LOCK_PATH, (place) => utimesSync(place, new Date(), new Date()))),
    LOCK_HEARTBEAT_MS,
  )
  alive.unref()
  return () => {
    clearInterval(alive)
    ignoreFailure(() => disk.at(LOCK_PATH, (place) => releaseLockFile(place, mine)))
  }
}

// A lock that cannot be removed is one of a process that is gone, soon.
function ignoreFailure(act: () => void): void {
  try {
    act()
  } catch {
    /* nothing depends on it */
  }
}
