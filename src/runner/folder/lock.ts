import { rmSync, statSync, truncateSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createExclusively, readText, setAside } from '../../call/exclusive-file.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { identify } from '../../process/process-table.ts'
import type { KnownProcess } from '../../process/process-table.ts'
import { diskProblem } from '../log/disk-problem.ts'
import { isUs, look, ourselves, readOwner } from './owner.ts'
import type { Owner } from './owner.ts'
import type { RunPaths } from './run-paths.ts'
import { writeAtomically } from './write-atomically.ts'

/** The right to write the record of a run. */
export type RunLock = {
  /** Notes the processes of the run, so that they can be ended should this one be killed. */
  remember(processes: readonly KnownProcess[]): void
  /** Gives it back. Only after `runner_end` is written: a run that is not over and has no lock is nobody's. */
  release(): void
  /** Leaves a run whose end could not be recorded to whoever finishes it next. */
  abandon(): void
}

/** What was found where the lock of a run belongs. */
export type LockState = { readonly text: string; readonly owner: Owner | undefined }

// Nobody sees into another machine; after a day without a word its run counts as over.
const LONGEST_SILENCE_MS = 24 * 3600 * 1000
const MOST_TRIES = 20
// A process that has just started another one tells so at once.
const LONGEST_HAND_OVER_MS = 10_000
const LOOK_AGAIN_MS = 10

/** Makes a run ours before it is run, so that nobody else runs, finishes or removes it until we do. Throws CONFLICT while somebody else has it; gives what takes that back. */
export function claim(paths: RunPaths): () => void {
  const mine = textOf({ ...ourselves(), claim: true })
  take(paths, mine)
  return () => {
    if (readText(paths.lock) === mine) rmSync(paths.lock, { force: true })
  }
}

/** Gives a run that we have claimed to a process that we have started, which waits for it by `untilHandedOver`. */
export function handOver(paths: RunPaths, pid: number): void {
  const found = readLock(paths)
  const heir = identify(pid) ?? { pid, start: '' }
  if (!found?.owner || !isOurClaim(found)) return
  writeAtomically(paths.lock, textOf({ ...found.owner, ...heir }))
}

/** Waits until whoever started us has handed the run over, or is gone. */
export async function untilHandedOver(paths: RunPaths): Promise<void> {
  const end = performance.now() + LONGEST_HAND_OVER_MS
  const isWithheld = (found: LockState | undefined): boolean =>
    found?.owner?.claim === true && isTaken(found, paths)
  while (isWithheld(readLock(paths)) && performance.now() < end) await sleep(LOOK_AGAIN_MS)
}

/** Takes the lock of a run. Throws CONFLICT while another runner lives, also another one of this process. */
export function lockRun(paths: RunPaths): RunLock {
  let mine = textOf(ourselves())
  let isMine = true
  const giveUp = (how: () => void): void => {
    if (isMine && readText(paths.lock) === mine) how()
    isMine = false
  }
  take(paths, mine)
  return {
    remember(processes) {
      const next = textOf({ ...ourselves(), children: processes })
      try {
        writeAtomically(paths.lock, next)
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

function take(paths: RunPaths, mine: string): void {
  try {
    for (let tries = 0; !createExclusively(paths.lock, mine, { flush: false }); tries += 1) {
      const found = readLock(paths)
      // Nobody else takes what we have claimed; and without a gap nobody believes that the run is over.
      if (found && isOurClaim(found)) return writeAtomically(paths.lock, mine)
      if ((found && isTaken(found, paths)) || tries > MOST_TRIES)
        throw conflict(paths, found?.owner)
      if (found) setAside(paths.lock, found.text)
    }
  } catch (error) {
    throw diskProblem(error, `cannot lock ${paths.id}`)
  }
}

/** The lock of a run; undefined where there is none. */
export function readLock(paths: RunPaths): LockState | undefined {
  const text = readText(paths.lock)
  return text === undefined ? undefined : { text, owner: readOwner(text) }
}

/** Whether somebody may still be at work on a run. */
export function isLive(paths: RunPaths): boolean {
  const found = readLock(paths)
  return found?.owner !== undefined && isAtWork(found.owner, paths)
}

function isTaken(found: LockState, paths: RunPaths): boolean {
  return found.owner !== undefined && !isOurClaim(found) && isAtWork(found.owner, paths)
}

function isOurClaim({ owner }: LockState): boolean {
  return owner?.claim === true && isUs(owner)
}

function isAtWork(owner: Owner, paths: RunPaths): boolean {
  const sight = look(owner)
  return sight === 'alive' || (sight === 'elsewhere' && silence(paths) < LONGEST_SILENCE_MS)
}

function silence(paths: RunPaths): number {
  const last = Math.max(
    ...[paths.events, paths.lock].map(
      (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0,
    ),
  )
  return Date.now() - last
}

function textOf(owner: Owner): string {
  return `${JSON.stringify(owner)}\n`
}

function conflict({ id }: RunPaths, owner: Owner | undefined): ToolError {
  const who = owner ? `process ${owner.pid}` : 'another process'
  return new ToolError('CONFLICT', `${id} is being run by ${who}`, {
    suggestion: `Watch it: toolable watch ${id}`,
    details: { run_id: id, ...(owner && { pid: owner.pid }) },
  })
}
