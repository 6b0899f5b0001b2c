import type { Io } from '../../contract/io.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import type { AskPerson } from './channels.ts'

/** A run that is looked at in the foreground. */
export type SeenRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly io: Io
  readonly globals: Globals
  /** Whether a person sits here, who is asked. */ readonly person: boolean
  /** It goes on after an attempt that was seen elsewhere. */ readonly resumed: boolean
}

/** One way in which a run is seen while it goes on, and when it is over. `events` are the lines, read. */
export type ViewPart = {
  show(lines: string, events: () => readonly RunEvent[]): Promise<void>
  /** Asks a person at the right moment, and in the right place. */
  readonly ask?: AskPerson
  /** Where things are, and how it goes on. */
  sumUp?(): Promise<void>
  /** Leaves the terminal as it was found, whatever happened. */
  close?(): Promise<void>
}
