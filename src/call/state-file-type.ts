import type { Duration } from '../contract/duration.ts'
import type { Filesystem } from '../contract/filesystem.ts'
import type { Slice, Transactional } from '../contract/state.ts'

/** How a file with a state is opened. */
export type StateFileOptions = {
  readonly signal?: AbortSignal
  /** How long others may hold the file; default 30 seconds, then CONFLICT. */
  readonly wait?: Duration
  /** Slices that are read at once, so that a file with something else in them is refused by name. */
  readonly slices?: readonly Slice<unknown>[]
  /** Files that roll back with the slices; they are not in the file. */
  readonly filesystem?: Transactional<Filesystem>
}

/** An opened file with a state. */
export type StateFile = {
  /** Writes what has changed so far; at the end that happens by itself. */ save(): void
}
