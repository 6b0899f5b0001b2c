import type { RunEvent } from '../../contract/run-state.ts'
import type { openRun } from '../../runner/folder/open-run.ts'
import type { LightRun } from '../../workflow/run/open-light.ts'
import type { ChosenProgress } from '../progress/progress-flag.ts'

/** A run that is watched. */
export type Watched = ReturnType<typeof openRun> | LightRun

/** Somebody who sees what becomes of runs. */
export type Onlooker = {
  see(run: Watched, events: readonly RunEvent[]): Promise<void>
  /** Nobody reads any more. */
  readonly closed: boolean
  /** All runs are over, or nobody wants to see more. */
  end(): Promise<void>
}

export type Watching = {
  readonly progress: ChosenProgress
  readonly root: string
  /** In the order in which they are shown, whichever speaks first. */ readonly runs: readonly Watched[]
  /** The first event that counts. */ readonly since: number
}
