import { readFileSync } from 'node:fs'
import type { Limits } from '../permissions/grants.ts'

const MEBIBYTE = 1024 * 1024
const DESCRIPTORS = 4096

/** What the kernel holds each single process to. The sums of a tree are watched; these stop the one that is too fast to be watched. */
export type ProcessLimits = {
  readonly [name in 'core' | 'cpu' | 'data' | 'fsize' | 'nofile' | 'nproc']?: number
}

/**
 * The limits of each process that follow from those of a tree. `nproc` counts all processes of a user, so that it only makes sense in a user namespace.
 * Address space is left alone: Node and Java reserve far more of it than they use.
 */
export function processLimitsOf(
  { cpuSeconds, memoryMb, processes, fileMb, workspaceMb }: Limits,
  inUserNamespace: boolean,
): ProcessLimits {
  const largest = Math.min(fileMb ?? Infinity, workspaceMb ?? Infinity)
  return {
    // Not 0: programs of the machine that collect crashes are started all the same then, and would put the memory of a tool on its disk.
    core: 1,
    nofile: DESCRIPTORS,
    // One second more than the tree has, which is ended with a reason that says why.
    ...(cpuSeconds !== undefined && { cpu: Math.ceil(cpuSeconds) + 1 }),
    ...(memoryMb !== undefined && { data: Math.floor(memoryMb * MEBIBYTE) }),
    ...(Number.isFinite(largest) && { fsize: Math.floor(largest * MEBIBYTE) }),
    ...(processes !== undefined && inUserNamespace && { nproc: processes }),
  }
}

/** The words that set these limits: before the command where `prlimit` does it, otherwise a shell. Never above what we may set ourselves. */
export function setLimits(
  limits: ProcessLimits,
  prlimit: string | undefined,
): [string, ...string[]] {
  const allowed = Object.entries(limits).map(
    ([name, value]) => [name, Math.min(value, highest(name))] as const,
  )
  if (prlimit !== undefined)
    return [prlimit, ...allowed.map(([name, value]) => `--${name}=${value}`), '--']
  const script = allowed
    .flatMap(([name, value]) => IN_SHELL[name]?.(value) ?? [])
    .map((words) => `ulimit ${words} || exit 126; `)
  return ['/bin/sh', '-c', `${script.join('')}exec "$@"`, 'sh']
}

const IN_SHELL: { readonly [name: string]: (value: number) => string } = {
  core: () => '-c 0',
  cpu: (value) => `-t ${value}`,
  data: (value) => `-d ${Math.floor(value / 1024)}`,
  fsize: (value) => `-f ${Math.floor(value / 512)}`,
  nofile: (value) => `-n ${value}`,
}

const NAMES: { readonly [name: string]: string } = {
  core: 'Max core file size',
  cpu: 'Max cpu time',
  data: 'Max data size',
  fsize: 'Max file size',
  nofile: 'Max open files',
  nproc: 'Max processes',
}

let ours: string | undefined

// The second column, after the name and the limit that is in force.
function highest(name: string): number {
  try {
    ours ??= readFileSync('/proc/self/limits', 'latin1')
    const line = ours.split('\n').find((candidate) => candidate.startsWith(NAMES[name]!))
    const value = line?.slice(NAMES[name]!.length).trim().split(/\s+/)[1]
    return value === undefined || value === 'unlimited' ? Infinity : Number(value)
  } catch {
    return Infinity
  }
}
