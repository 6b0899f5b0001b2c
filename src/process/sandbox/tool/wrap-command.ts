import { dirname } from 'node:path'
import type { ChildOptions } from '../../child-type.ts'
import type { Limits } from '../../permissions/grants.ts'
import { processLimitsOf, setLimits } from '../../limits/rlimits.ts'
import { contains } from '../paths.ts'
import type { ToolProfile } from '../profile.ts'
import type { Descriptors } from './descriptors.ts'
import { devices, isOfSystem, systemFolders, systemSettings } from './ground.ts'
import type { Identity } from './identity.ts'
import { HOME, madeFiles } from './made-files.ts'
import type { NetworkHold } from './network.ts'
import type { Place } from './places.ts'

const MEBIBYTE = 1024 * 1024
/** Folders in memory: as large as this, or a quarter of the memory that the tool may use. */
const LARGEST_IN_MEMORY = 256
const SMALLEST_IN_MEMORY = 16
const SHARE_IN_MEMORY = 4

/** The folders in memory that every tool has of its own. */
export const IN_MEMORY = ['/tmp', '/dev/shm']

/** The programs that make a sandbox, and the program that the kernel runs at every call. */
export type SandboxPrograms = { readonly bwrap: string; readonly prlimit: string; readonly setpriv: string | undefined; readonly seccomp: Buffer }

/** One sandbox, decided to the last detail. */
export type SandboxPlan = {
  readonly programs: SandboxPrograms
  readonly who: Identity
  /** Whether only root gets at its places, so that root has to make it and becomes somebody else in it. */
  readonly byRoot: boolean
  readonly places: readonly Place[]
  readonly files: ToolProfile['files']
  readonly network: NetworkHold
  readonly limits: Limits
  readonly cwd: string
}

/** The command that runs a command in a sandbox; what bubblewrap needs besides goes into `descriptors`. */
export function wrapCommand(plan: SandboxPlan, command: ChildOptions['command'], descriptors: Descriptors): { readonly command: [string, ...string[]]; readonly status: number; readonly gate: number | undefined } {
  const { programs: { bwrap, prlimit, setpriv = 'setpriv', seccomp }, who, byRoot, network, limits, cwd } = plan
  const status = descriptors.pipe()
  const gate = network.attach ? descriptors.pipe() : undefined
  const become = [setpriv, '--reuid', String(who.uid), '--regid', String(who.gid), '--clear-groups', '--inh-caps=-all', '--bounding-set=-all', '--no-new-privs', '--']
  const filtered = ['--seccomp', descriptors.text(seccomp.toString('latin1'), 'latin1')]
  const inside = ['--', ...setLimits(processLimitsOf(limits, true), prlimit), ...command]
  const outside = [
    '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try', ...(network.isShared ? [] : ['--unshare-net']),
    '--die-with-parent', '--new-session', '--hostname', 'sandbox', '--cap-drop', 'ALL',
    ...(gate === undefined ? [] : ['--block-fd', String(gate)]),
    '--json-status-fd', String(status),
    ...mounts(plan, descriptors),
    '--chdir', cwd,
  ]
  const all = byRoot
    ? [bwrap, ...outside, ...['SETUID', 'SETGID', 'SETPCAP'].flatMap((name) => ['--cap-add', `CAP_${name}`]), '--', ...become, bwrap, '--unshare-user', '--die-with-parent', '--dev-bind', '/', '/', '--chdir', cwd, ...filtered, ...inside]
    : [...(who.isDropped ? become : []), bwrap, '--unshare-user', ...outside, ...filtered, ...inside]
  return { command: all as [string, ...string[]], status, gate }
}

function mounts({ who, byRoot, places, files = [], network, limits }: SandboxPlan, descriptors: Descriptors): string[] {
  const inMemory = Math.min(LARGEST_IN_MEMORY, Math.max(SMALLEST_IN_MEMORY, Math.floor((limits.memoryMb ?? Infinity) / SHARE_IN_MEMORY)))
  const open = (paths: readonly string[]): string[] => foldersAbove(paths, places).flatMap((folder) => ['--perms', '0755', '--dir', folder])
  return [
    ...open(['/dev/null', '/etc/ssl/certs', '/etc/pki/tls']),
    ...systemFolders(),
    ...systemSettings(network.isShared),
    ...madeFiles(who, network.hosts).flatMap(({ path, content }) => ['--perms', '0444', '--file', descriptors.text(content), path]),
    ...devices(),
    '--proc', '/proc',
    ...IN_MEMORY.flatMap((folder) => ['--perms', '1777', '--size', String(inMemory * MEBIBYTE), '--tmpfs', folder]),
    '--perms', '0777', '--dir', HOME,
    ...open(places.map(({ path }) => path)),
    ...places.flatMap(({ path, source, isWritable }) => [isWritable ? '--bind' : '--ro-bind', source, path]),
    // What root makes belongs to root; nobody but the tool is there to read it.
    ...open(files.map(({ path }) => path)),
    ...files.flatMap(({ path, content }) => ['--perms', byRoot ? '0444' : '0400', '--file', descriptors.bytes(content), path]),
    // What is written where nothing is granted would vanish without a word, so that it fails instead.
    '--remount-ro', '/',
  ]
}

// Bubblewrap would close the folders that it has to make on its way to everybody but their owner.
function foldersAbove(paths: readonly string[], places: readonly Place[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.add(folder)
  const isMade = (folder: string): boolean => !IN_MEMORY.includes(folder) && !isOfSystem(folder) && !places.some((place) => contains(place.path, folder))
  return [...folders].filter(isMade).sort((left, right) => left.length - right.length)
}
