import { statSync } from 'node:fs'
import { toMilliseconds } from '../contract/duration.ts'
import { quoteForShell } from '../contract/quote-for-shell.ts'
import type { State, StateJson } from '../contract/state.ts'
import { ToolError } from '../contract/tool-error.ts'
import { fileProblem } from './files/file-problem.ts'
import { leaveFolders, makeFolders } from './files/folders.ts'
import { takeLock, whileFoldersVanish } from './files/lock.ts'
import { openFile } from './files/open-file.ts'
import type { OpenedFile } from './files/open-file.ts'
import { replaceFile } from './files/replace-file.ts'
import { createState } from './state/create-state.ts'
import type { StateFile, StateFileOptions } from './state-file-type.ts'

const MOST_BYTES = 64 * 1024 * 1024
// What a session knows is nobody else's business.
const MODE = 0o600
const DEFAULT_WAIT_S = 30

type Options = Pick<StateFileOptions, 'slices' | 'filesystem'>

/** `withStateFile`, which loads this late. */
export async function lendState<Result>(
  path: string,
  work: (state: State, file: StateFile) => Result | Promise<Result>,
  { signal, wait = DEFAULT_WAIT_S, ...options }: StateFileOptions,
): Promise<Result> {
  const longest = toMilliseconds(wait, 'wait')
  let made: readonly string[] = []
  const lock = async (): Promise<() => void> => {
    made = makeFolders(path)
    return takeLock(openFile(path).path, { signal, longest })
  }
  const release = await whileFoldersVanish(lock).catch((error: unknown) => {
    throw fileProblem(error, path)
  })
  try {
    const { state, save } = openState(path, options)
    try {
      const result = await work(state, { save })
      // Whoever gave up meanwhile was told that nothing happened.
      signal?.throwIfAborted()
      save()
      return result
    } finally {
      await state.close()
    }
  } finally {
    release()
    await leaveFolders(made)
  }
}

/** `readStateFile`, which loads this late. */
export function loadState(path: string, options: Options): State {
  return openState(path, options).state
}

function openState(path: string, options: Options): { readonly state: State; save(): void } {
  let file = onFile(path, () => readWhole(path))
  const state = stateOf(file, path, options)
  let saved = textOf(state)
  return {
    state,
    save() {
      const text = textOf(state)
      if (text === saved) return
      if (!onFile(path, () => replaceFile(file, text, MODE)))
        throw new ToolError(
          'CONFLICT',
          `${path} was changed by something that does not wait for its lock; what is new was not written`,
          {
            retryable: true,
            details: { file: path },
            suggestion: 'End what writes to it, and try again',
          },
        )
      file = onFile(path, () => openFile(path))
      saved = text
    },
  }
}

function readWhole(path: string): OpenedFile {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > MOST_BYTES)
    throw new ToolError('CONFIG', `has ${size} bytes, and a state has at most ${MOST_BYTES}`)
  return openFile(path)
}

function stateOf({ text }: OpenedFile, path: string, { slices = [], filesystem }: Options): State {
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

function textOf(state: State): string {
  return `${JSON.stringify(state.toJSON(), null, 2)}\n`
}

function onFile<Result>(path: string, step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    throw fileProblem(error, path)
  }
}
