import type { Registry } from '../../registry/registry-type.ts'
import type { Started } from '../../surfaces/cli/host.ts'
import type { Surroundings } from '../config/load.ts'

/** The project that a dashboard shows, and how processes for it are started. */
export type Project = {
  /** Where the dashboard was started: what relative paths mean, and where its runs work. */
  readonly cwd: string
  readonly env: { readonly [name: string]: string | undefined }
  readonly now: () => number
  /** Which tools there are, as flags said. */
  readonly surroundings: Surroundings
  readonly started: Started
  /** Where its configuration lies, or `cwd`. */
  readonly root: string
  /** The folder of its runs. */
  readonly runsFolder: string
}

/** The tools of the project, as they are now. */
export type Tools = {
  /** Rejects with CONFIG while the configuration cannot be used. */
  registry(): Promise<Registry>
  /** Looks again, at the configuration too. */
  rescan(): Promise<Registry>
}
