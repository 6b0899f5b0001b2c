import type { Seen } from '../cache/stamp.ts'

/** A file of a folder that may bring tools. */
export type Candidate = {
  /** Relative to the folder, with slashes: `weather.py`, `registry/mover/tool.yaml`. */
  readonly key: string
  readonly path: string
  /** `manifest` may be any YAML, `registered` lies where only manifests lie. */
  readonly what: 'program' | 'manifest' | 'registered' | 'error-codes'
  /** What its tool is called where nothing says it, and what a companion is told by: the stem, or the name of the tool's folder. */
  readonly name: string
  /** The folder of the tool, where it has one of its own. */
  readonly toolFolder?: string
  readonly seen: Seen
}

/** A file that will not be asked, and why. */
export type Refusal = {
  readonly key: string
  readonly path: string
  readonly reason: string
  readonly message: string
  readonly fix: string
}
