/**
 * The lock of a run: which process owns it, whether that process is alive, and how a run is
 * claimed, handed over and released.
 */

import { rmSync, statSync, truncateSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { host } from '../core/host.ts'
import { getOwnPid, isLinux } from '../process/host.ts'
import type { ProcessIdentity } from '../process/process-table.ts'
import { identifyProcess, isAlive } from '../process/process-table.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readTextFile } from '../util/files.ts'
import type { ProcessLocation } from '../util/lock-file.ts'
import {
  compareLocation,
  getProcessLocation,
  releaseLockFile,
  takeLockFile,
  writeFileAtomic,
} from '../util/lock-file.ts'
import { DAY_MS } from '../util/units.ts'
import { compact, isObject, parseJsonObject } from '../util/values.ts'
import { toDiskError } from './files.ts'
import type { RunPaths } from './run-paths.ts'

/** The right to write the record of a run. */
export type RunLock = {
  /** Notes the processes of the run, so that they can be ended should this one be killed. */
  setChildren(processes: readonly ProcessIdentity[]): void
  /**
   * Gives it back. Only after `runner_end` is written: a run that is not over and has no lock is
   * nobody's.
   */
  release(): void
  /** Leaves a run whose end could not be recorded to the next recovery. */
  abandon(): void
}

/** What was found where the lock of a run belongs. */
type RunLockState = { readonly text: string; readonly owner: ProcessOwner | undefined }

// Processes of another machine are invisible; after a day of silence the run counts as over.
const MAX_REMOTE_SILENCE_MS = DAY_MS
// A process hands over right after it has started the other one.
const HAND_OVER_TIMEOUT_MS = 10_000
const HAND_OVER_POLL_MS = 10

/**
 * Claims a run before it is started, so that no other process runs, finishes or removes it. Returns
 * a function that releases the claim. Throws CONFLICT while another process has it.
 */
export function claimRun(paths: RunPaths): () => void {
  const mine = serializeOwner({ ...getCurrentOwner(), claim: true })
  acquireRunLock(paths, mine)
  return () => releaseLockFile(paths.lock, mine)
}

/**
 * Gives a run that we have claimed to a process that we have started, which waits for it by
 * `untilHandedOver`.
 */
export function handOverRun(paths: RunPaths, pid: number): void {
  const found = readRunLock(paths)
  const heir = identifyProcess(pid) ?? { pid, start: '' }
  if (!found?.owner || !isOurClaim(found)) return
  writeFileAtomic(paths.lock, serializeOwner({ ...found.owner, ...heir }))
}

/** Waits until the parent process has handed the run over, or is gone. */
export async function waitForHandOver(paths: RunPaths): Promise<void> {
  const end = performance.now() + HAND_OVER_TIMEOUT_MS
  const isWithheld = (found: RunLockState | undefined): boolean =>
    found?.owner?.claim === true && isLockedByOther(found, paths)
  while (isWithheld(readRunLock(paths)) && performance.now() < end) await sleep(HAND_OVER_POLL_MS)
}

/**
 * Takes the lock of a run. Throws CONFLICT while another runner lives, also another one of this
 * process.
 */
export function lockRun(paths: RunPaths): RunLock {
  let mine = serializeOwner(getCurrentOwner())
  let isMine = true
  const giveUp = (how: () => void): void => {
    if (isMine && readTextFile(paths.lock) === mine) how()
    isMine = false
  }
  acquireRunLock(paths, mine)
  return {
    setChildren(processes) {
      const next = serializeOwner({ ...getCurrentOwner(), children: processes })
      try {
        writeFileAtomic(paths.lock, next)
        mine = next
      } catch {
        /* a full disk: the run goes on, and only a kill -9 would leave something behind */
      }
    },
    release: () => giveUp(() => rmSync(paths.lock, { force: true })),
    // Cut, because that needs no space on a full disk.
    abandon: () => giveUp(() => truncateSync(paths.lock)),
  }
}

function acquireRunLock(paths: RunPaths, mine: string): void {
  const judge = (text: string): 'held' | 'mine' | 'stale' => {
    const found = { text, owner: parseOwner(text) }
    // No other process takes what we have claimed; and without a gap the run never looks finished.
    if (isOurClaim(found)) return 'mine'
    return isLockedByOther(found, paths) ? 'held' : 'stale'
  }
  let taken
  try {
    taken = takeLockFile(paths.lock, mine, judge)
  } catch (error) {
    throw toDiskError(error, `cannot lock ${paths.id}`)
  }
  if (taken)
    throw createRunConflict(paths, taken.found === undefined ? undefined : parseOwner(taken.found))
}

/** The lock of a run; undefined where there is none. */
export function readRunLock(paths: RunPaths): RunLockState | undefined {
  const text = readTextFile(paths.lock)
  return text === undefined ? undefined : { text, owner: parseOwner(text) }
}

/** Whether a process may still be working on the run. */
export function isRunLive(paths: RunPaths): boolean {
  const found = readRunLock(paths)
  return found?.owner !== undefined && isOwnerActive(found.owner, paths)
}

function isLockedByOther(found: RunLockState, paths: RunPaths): boolean {
  return found.owner !== undefined && !isOurClaim(found) && isOwnerActive(found.owner, paths)
}

function isOurClaim({ owner }: RunLockState): boolean {
  return owner?.claim === true && isCurrentProcess(owner)
}

function isOwnerActive(owner: ProcessOwner, paths: RunPaths): boolean {
  const sight = getOwnerLiveness(owner)
  return sight === 'alive' || (sight === 'elsewhere' && getSilenceMs(paths) < MAX_REMOTE_SILENCE_MS)
}

function getSilenceMs(paths: RunPaths): number {
  const last = Math.max(
    ...[paths.events, paths.lock].map(
      (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ),
  )
  return Date.now() - last
}

function serializeOwner(owner: ProcessOwner): string {
  return `${JSON.stringify(owner)}\n`
}

function createRunConflict({ id }: RunPaths, owner: ProcessOwner | undefined): ToolError {
  const who = owner ? `process ${owner.pid}` : 'another process'
  return new ToolError('CONFLICT', `${id} is being run by ${who}`, {
    suggestion: `Watch it: toolable watch ${id}`,
    details: compact({ run_id: id, pid: owner ? owner.pid : undefined }),
  })
}

/**
 * Who runs a run, as its lock tells: the process, where its number means something, and what it has
 * started.
 */
export type ProcessOwner = ProcessIdentity &
  ProcessLocation & {
    /** It has the run, but does not run it yet. */
    readonly claim?: true
    readonly children: readonly ProcessIdentity[]
  }

/**
 * How far the owner of a run can be seen from here. `elsewhere`: on another machine or in another
 * container.
 */
type OwnerLiveness = 'alive' | 'dead' | 'elsewhere'

/** This process as an owner. */
export function getCurrentOwner(): ProcessOwner {
  const pid = getOwnPid()
  return { pid, start: identifyProcess(pid)?.start ?? '', ...getProcessLocation(), children: [] }
}

/** Whether an owner is this very process. */
function isCurrentProcess({ pid, start, machine, boot, namespace }: ProcessOwner): boolean {
  const us = getCurrentOwner()
  return (
    pid === us.pid &&
    start === us.start &&
    machine === us.machine &&
    boot === us.boot &&
    namespace === us.namespace
  )
}

/** Reads the text of a lock; undefined when it is invalid. */
export function parseOwner(text: string): ProcessOwner | undefined {
  const value = parseJsonObject(text)
  if (!value || !isKnownProcess(value)) return undefined
  const { machine, boot, namespace, children } = value as { readonly [field: string]: unknown }
  if (
    typeof machine !== 'string' ||
    typeof boot !== 'string' ||
    typeof namespace !== 'string' ||
    !Array.isArray(children)
  )
    return undefined
  return {
    pid: value.pid,
    start: value.start,
    machine,
    boot,
    namespace,
    ...compact({ claim: (value as { claim?: unknown }).claim === true || undefined }),
    children: children.filter(isKnownProcess),
  }
}

/** Whether the owner of a run still lives. */
export function getOwnerLiveness(owner: ProcessOwner): OwnerLiveness {
  const distance = compareLocation(owner)
  if (distance !== 'here') return distance === 'gone' ? 'dead' : 'elsewhere'
  return (isLinux ? isAlive(owner) : host.isAlive(owner.pid)) ? 'alive' : 'dead'
}

/** Those of its children that still live and are the same processes. */
export function listLiveChildren(owner: ProcessOwner): readonly ProcessIdentity[] {
  return compareLocation(owner) === 'here' ? owner.children.filter(isAlive) : []
}

function isKnownProcess(value: unknown): value is ProcessIdentity {
  // 0 and 1 would mean our own group, and everybody.
  return (
    isObject(value) &&
    Number.isSafeInteger(value['pid']) &&
    (value['pid'] as number) > 1 &&
    typeof value['start'] === 'string'
  )
}
