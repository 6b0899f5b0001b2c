/** A place that a tool may touch: a file, or a folder with all that lies in it. Absolute and without links. */
export type PlaceGrant = { readonly path: string; readonly tree: boolean }

/** A server that a tool may talk to, exactly. `local`: it is this machine, which a policy has to allow; no other name may lead there. */
export type EgressGrant = { readonly host: string; readonly port: number; readonly local?: true }

/** How much a tool may use. Absent: as much as the machine gives. */
export type Limits = {
  /** Seconds of processor time of the whole tree. */
  readonly cpuSeconds?: number
  /** Memory of the whole tree. */
  readonly memoryMb?: number
  /** Processes and threads at the same time. */
  readonly processes?: number
  /** Largest file that it may write. */
  readonly fileMb?: number
  /** Everything in its workspace together. */
  readonly workspaceMb?: number
  /** Everything that it writes to stdout. */
  readonly outputMb?: number
  /** Longest line of stdout. */
  readonly lineKb?: number
  /** Milliseconds between the request to end and the kill. */
  readonly graceMs?: number
}

/** What a tool may do on this machine: its manifest, expanded and checked. `undefined` network is none; nothing else is open either. */
export type Grants = {
  readonly read: readonly PlaceGrant[]
  readonly write: readonly PlaceGrant[]
  /** `open`: any server, for manifests of the short form `network: full`; a policy has to allow it. */
  readonly network: 'none' | 'open' | readonly EgressGrant[]
  readonly limits: Limits
  /** Names of secrets that it is given. */
  readonly secrets: readonly string[]
  /** Files that its manifest names for some of them. */
  readonly secretFiles?: { readonly [name: string]: string }
}

/** How well a run is held. L3: namespaces, seccomp and limits. L1: environment, limits of each process, time, output and the kill of its tree; L1 sees every file and every server that its caller sees. */
export const LEVELS = ['L1', 'L2', 'L3'] as const
export type Level = (typeof LEVELS)[number]
