import type { Loaded } from './found.ts'

/** What every source works with. */
export type LoadContext = {
  readonly cwd: string
  /** The environment of the host: where programs are found, and what `${NAME}` in a configuration means. Children never get it whole. */
  readonly env: { readonly [name: string]: string | undefined }
  /** Ask again even where the cache knows the answer. */
  readonly fresh: boolean
  /** Where the caches lie; undefined: nothing is remembered. */
  readonly cacheFolder: string | undefined
  readonly probe: ProbeSettings
  readonly signal: AbortSignal
}

export type ProbeSettings = {
  /** Probing without a sandbox, on a machine that has none. Default false. */
  readonly unsandboxed: boolean
  /** Children at the same time; default: one for each core. */
  readonly concurrency?: number
}

/** A place that tools come from. All sources have these few functions, and nobody asks which one it is. */
export type Source = {
  /** Unique among the sources of a registry. */
  readonly name: string
  /** What it is, for people: 'folder', 'mcp server', 'program' ... */
  readonly kind: string
  readonly location: string
  /** Looks what is there now. Never throws: what does not work is a problem with a reason and a fix. Called again by `rescan`. */
  load(context: LoadContext): Promise<Loaded>
  /** Loads the code that `define` of its tools needs, where a list does without it. */
  prepare?(): Promise<void>
  /** Tells that what `load` would give has changed. */
  onChange?(listener: () => void): void
  /** Ends what it keeps open: connections, warm programs. */
  close?(): Promise<void>
}
