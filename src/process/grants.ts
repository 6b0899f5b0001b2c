/**
 * What a tool may do on this machine, as plain data, and the shapes of `permissions` and
 * `resources` in a manifest.
 */

import type { ConfigShape } from '../protocol/config-shape.ts'

/** A path that a tool may use: a file, or a folder with everything in it. Absolute, without links. */
export type PathGrant = { readonly path: string; readonly tree: boolean }

/**
 * A server that a tool may connect to. `local`: it is this machine, which a policy has to allow; no
 * other name may resolve to it.
 */
export type EgressGrant = { readonly host: string; readonly port: number; readonly local?: true }

/** How much a tool may use. An absent limit is not enforced. */
export type ResourceLimits = {
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
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly graceMs?: number
}

/** What a tool may do on this machine: its manifest, expanded and checked. */
export type Grants = {
  readonly read: readonly PathGrant[]
  readonly write: readonly PathGrant[]
  /**
   * `open`: any server, for manifests of the short form `network: full`; a policy has to allow it.
   */
  readonly network: 'none' | 'open' | readonly EgressGrant[]
  readonly limits: ResourceLimits
  /** Names of the secrets it gets. */
  readonly secrets: readonly string[]
  /** Files that its manifest names for some of them. */
  readonly secretFiles?: { readonly [name: string]: string }
}

/**
 * How strongly a run is confined. L3: namespaces, seccomp and limits. L1: environment, limits of each
 * process, time, output and the kill of its tree; L1 sees every file and every server that its
 * caller sees.
 */
export const ISOLATION_LEVELS = ['L1', 'L2', 'L3'] as const
export type IsolationLevel = (typeof ISOLATION_LEVELS)[number]

/** The limits that a manifest may name: the internal name, the minimum and the maximum. */
export const RESOURCE_LIMITS = {
  cpu_seconds: { limit: 'cpuSeconds', least: 1, most: 7 * 86_400 },
  memory_mb: { limit: 'memoryMb', least: 16, most: 1024 * 1024 },
  processes: { limit: 'processes', least: 1, most: 65_536 },
  file_mb: { limit: 'fileMb', least: 1, most: 1024 * 1024 },
  workspace_mb: { limit: 'workspaceMb', least: 1, most: 1024 * 1024 },
  output_mb: { limit: 'outputMb', least: 1, most: 65_536 },
  line_kb: { limit: 'lineKb', least: 1, most: 65_536 },
  grace_ms: { limit: 'graceMs', least: 0, most: 60_000 },
} as const

export type LimitName = keyof typeof RESOURCE_LIMITS

/** A list of texts. */
export const TEXT_LIST_SHAPE: ConfigShape = { is: 'list', of: { is: 'text' } }

/** The shape of `resources`; `readLimit` checks the numbers. */
export const RESOURCES_SHAPE: ConfigShape = {
  is: 'object',
  keys: Object.fromEntries(
    Object.entries(RESOURCE_LIMITS).map(([name, { least, most }]): [string, ConfigShape] => [
      name,
      { is: 'anything', schema: { type: 'integer', minimum: least, maximum: most } },
    ]),
  ),
}

/** The shape of the permissions of a manifest. */
export const PERMISSIONS_SHAPE: ConfigShape = {
  is: 'object',
  keys: {
    filesystem: {
      is: 'either',
      short: { is: 'text' },
      long: { is: 'object', keys: { read: TEXT_LIST_SHAPE, write: TEXT_LIST_SHAPE } },
    },
    network: {
      is: 'either',
      short: { is: 'text' },
      long: { is: 'object', keys: { egress_allow: TEXT_LIST_SHAPE } },
    },
    resources: RESOURCES_SHAPE,
    secrets: {
      is: 'list',
      of: {
        is: 'either',
        short: { is: 'text' },
        long: {
          is: 'object',
          keys: { name: { is: 'text' }, file: { is: 'text' } },
          required: ['name'],
        },
      },
    },
  },
}
