import { rmSync, statSync } from 'node:fs'
import { createExclusively, readText, setAside } from '../../call/exclusive-file.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { KnownProcess } from '../../process/process-table.ts'
import { diskProblem } from '../log/disk-problem.ts'
import { look, ourselves, readOwner } from './owner.ts'
import type { Owner } from './owner.ts'
import type { RunPaths } from './run-paths.ts'
import { writeAtomically } from './write-atomically.ts'

/** The right to write the record of a run. */
export type RunLock = {
  /** Notes the processes of the run, so that they can be ended should this one be killed. */
  remember(processes: readonly KnownProcess[]): void
  /** Gives it back. Only after `runner_end` is written: a run that is not over and has no lock is nobody's. */
  release(): void
}

/** What was found where the lock of a run belongs. */
export type LockState = { readonly text: string; readonly owner: Owner | undefined }

// Nobody sees into another machine; after a day without a word its run counts as over.
const LONGEST_SILENCE_MS = 24 * 3600 * 1000
const MOST_TRIES = 20

/** Makes a new run ours, until somebody takes its lock. */
export function claim(paths: RunPaths): void {
  createExclusively(paths.lock, textOf({ ...ourselves(), created: true }), { flush: false })
}

/** Takes the lock of a run. Throws CONFLICT while another runner lives, also another one of this process. */
export function lockRun(paths: RunPaths): RunLock {
  let mine = textOf(ourselves())
  let released = false
  try {
    for (let tries = 0; !createExclusively(paths.lock, mine, { flush: false }); tries += 1) {
      const found = readLock(paths)
      if (found && (isTaken(found, paths) || tries > MOST_TRIES)) throw conflict(paths, found.owner)
      if (found) setAside(paths.lock, found.text)
    }
  } catch (error) {
    throw diskProblem(error, `cannot lock ${paths.id}`)
  }
  return {
    remember(processes) {
      mine = textOf({ ...ourselves(), children: processes })
      try {
        writeAtomically(paths.lock, mine)
      } catch { /* a full disk: the run goes on, and only a kill -9 would leave something behind */ }
    },
    release() {
      if (!released && readText(paths.lock) === mine) rmSync(paths.lock, { force: true })
      released = true
    },
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
  return found.owner !== undefined && found.owner.created !== true && isAtWork(found.owner, paths)
}

function isAtWork(owner: Owner, paths: RunPaths): boolean {
  const sight = look(owner)
  return sight === 'alive' || (sight === 'elsewhere' && silence(paths) < LONGEST_SILENCE_MS)
}

function silence(paths: RunPaths): number {
  const last = Math.max(...[paths.events, paths.lock].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0))
  return Date.now() - last
}

function textOf(owner: Owner): string {
  return `${JSON.stringify(owner)}\n`
}

function conflict({ id }: RunPaths, owner: Owner | undefined): ToolError {
  const who = owner ? `process ${owner.pid}` : 'another process'
  return new ToolError('CONFLICT', `${id} is being run by ${who}`, { suggestion: `Watch it: toolable watch ${id}`, details: { run_id: id, ...(owner && { pid: owner.pid }) } })
}
