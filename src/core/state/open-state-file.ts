/**
 * A state in a file: read under a lock, replaced as a whole when something changed. Loaded by the
 * first use of a state file.
 */

import { statSync } from 'node:fs'
import type { Duration } from '../../protocol/limits.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import type { Filesystem, Slice, State, StateJson, Transactional } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { quoteForShell } from '../../util/text.ts'
import { acquireFileLock, retryWhileFoldersVanish } from '../files/lock.ts'
import type { SharedFile } from '../files/shared-file.ts'
import {
  createFolders,
  openSharedFile,
  removeFoldersWhenFree,
  replaceFile,
  toFileError,
} from '../files/shared-file.ts'
import { createState } from './state.ts'

const MAX_STATE_BYTES = 64 * 1024 * 1024
// A state may hold private data of a session.
const STATE_FILE_MODE = 0o600
const DEFAULT_LOCK_WAIT_S = 30

type OpenStateOptions = Pick<StateFileOptions, 'slices' | 'filesystem'>

/** `withStateFile`, which loads this late. */
export async function runWithStateFile<Result>(
  path: string,
  work: (state: State, file: StateFile) => Result | Promise<Result>,
  { signal, wait = DEFAULT_LOCK_WAIT_S, ...options }: StateFileOptions,
): Promise<Result> {
  const longest = toMilliseconds(wait, 'wait')
  let made: readonly string[] = []
  const lock = async (): Promise<() => void> => {
    made = createFolders(path)
    return acquireFileLock(openSharedFile(path).path, { signal, longest })
  }
  const release = await retryWhileFoldersVanish(lock).catch((error: unknown) => {
    throw toFileError(error, path)
  })
  try {
    const { state, save } = openStateFile(path, options)
    try {
      const result = await work(state, { save })
      // A caller that gave up meanwhile was told that nothing happened.
      signal?.throwIfAborted()
      save()
      return result
    } finally {
      await state.close()
    }
  } finally {
    release()
    await removeFoldersWhenFree(made)
  }
}

/** `readStateFile`, which loads this late. */
export function loadStateFile(path: string, options: OpenStateOptions): State {
  return openStateFile(path, options).state
}

function openStateFile(
  path: string,
  options: OpenStateOptions,
): { readonly state: State; save(): void } {
  let file = withFileErrors(path, () => openBoundedFile(path))
  const state = parseStateFile(file, path, options)
  let saved = toFileText(state)
  return {
    state,
    save() {
      const text = toFileText(state)
      if (text === saved) return
      if (!withFileErrors(path, () => replaceFile(file, text, STATE_FILE_MODE)))
        throw new ToolError(
          'CONFLICT',
          `${path} was changed by something that does not wait for its lock; what is new was not written`,
          {
            retryable: true,
            details: { file: path },
            suggestion: 'End what writes to it, and try again',
          },
        )
      file = withFileErrors(path, () => openSharedFile(path))
      saved = text
    },
  }
}

function openBoundedFile(path: string): SharedFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_STATE_BYTES)
    throw new ToolError('CONFIG', `has ${size} bytes, and a state has at most ${MAX_STATE_BYTES}`)
  return openSharedFile(path)
}

function parseStateFile(
  { text }: SharedFile,
  path: string,
  { slices = [], filesystem }: OpenStateOptions,
): State {
  const parts = filesystem ? { filesystem } : {}
  if (text === undefined) return createState(parts)
  try {
    const state = createState({ ...parts, from: JSON.parse(text) as StateJson })
    for (const slice of slices) state.get(slice).all()
    return state
  } catch (error) {
    const problem = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message
    throw new ToolError(
      'CONFIG',
      `${path} holds no state that can be used: ${problem}; it was left alone`,
      {
        cause: error,
        details: { file: path },
        suggestion: `Mend it, or begin anew: mv ${quoteForShell(path)} ${quoteForShell(`${path}.broken`)}`,
      },
    )
  }
}

function toFileText(state: State): string {
  return `${JSON.stringify(state.toJSON(), null, 2)}\n`
}

function withFileErrors<Result>(path: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    throw toFileError(error, path)
  }
}

/** How a file with a state is opened. */
export type StateFileOptions = {
  readonly signal?: AbortSignal
  /** How long others may hold the file; default 30 seconds, then CONFLICT. */
  readonly wait?: Duration
  /**
   * Slices that are read at once, so that a file with something else in them is refused by name.
   */
  readonly slices?: readonly Slice<unknown>[]
  /** Files that roll back with the slices; they are not in the file. */
  readonly filesystem?: Transactional<Filesystem>
}

/** An opened file with a state. */
export type StateFile = {
  /** Writes what has changed so far; at the end that happens by itself. */ save(): void
}
