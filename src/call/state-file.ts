import type { State } from '../contract/state.ts'
import type { StateFile, StateFileOptions } from './state-file-type.ts'

/**
 * Lends out the state that a file holds, an empty one where there is none, and writes it back when `work` succeeds and something changed.
 * Whoever else opens the file in this way waits, in any process. When `work` throws, or the process is killed, the file is as it was, or as last saved.
 * Throws CONFIG, naming the file, for one that holds no state of this version.
 */
export async function withStateFile<Result>(
  path: string,
  work: (state: State, file: StateFile) => Result | Promise<Result>,
  options: StateFileOptions = {},
): Promise<Result> {
  return (await import('./open-state-file.ts')).lendState(path, work, options)
}

/** The state that a file holds, an empty one where there is none, to be looked at: nobody waits, and nothing is written. */
export async function readStateFile(
  path: string,
  options: Pick<StateFileOptions, 'slices' | 'filesystem'> = {},
): Promise<State> {
  return (await import('./open-state-file.ts')).loadState(path, options)
}
