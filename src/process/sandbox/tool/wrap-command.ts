import { dirname } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import type { ChildOptions } from '../../child-type.ts'
import type { Limits } from '../../permissions/grants.ts'
import { processLimitsOf, setLimits } from '../../limits/rlimits.ts'
import { contains } from '../paths.ts'
import type { ToolProfile } from '../profile.ts'
import type { Descriptors } from './descriptors.ts'
import { DEVICES, isOfSystem, SHARED_MEMORY, systemFolders, systemSettings } from './ground.ts'
import type { Identity } from './identity.ts'
import { HOME, madeFiles } from './made-files.ts'
import type { NetworkHold } from './network-hold.ts'
import type { Place } from './places.ts'
import type { SandboxPrograms } from './programs.ts'

const MEBIBYTE = 1024 * 1024
/** The folder in memory is as large as this, or a quarter of the memory that the tool may use. */
const LARGEST_IN_MEMORY = 256
const SMALLEST_IN_MEMORY = 16
const SHARE_IN_MEMORY = 4

/** The folder in memory that every tool has of its own. */
export const IN_MEMORY = '/tmp'

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
  readonly env: ChildOptions['env']
  /** Whether the tool waits until it is told to go. */
  readonly waits: boolean
}

/** A command in its sandbox, the descriptor at which bubblewrap tells how it goes, and the one at which it waits for a byte before the tool starts. */
export type WrappedCommand = {
  readonly command: [string, ...string[]]
  readonly status: number
  readonly gate: number | undefined
}

/**
 * The command that runs a command in a sandbox. Bubblewrap gets its arguments by descriptor, so that nobody can read them from the list of processes, and no variables:
 * those of the tool are set where it starts, because some of them (`LD_PRELOAD`) would run code of its choice outside.
 */
export function wrapCommand(
  plan: SandboxPlan,
  command: ChildOptions['command'],
  descriptors: Descriptors,
): WrappedCommand {
  const {
    programs: { bwrap, prlimit, setpriv = 'setpriv', seccomp },
    who,
    byRoot,
    network,
    limits,
    cwd,
  } = plan
  const status = descriptors.pipe()
  const gate = plan.waits ? descriptors.pipe() : undefined
  const bubble = (args: readonly string[]): string[] => [
    bwrap,
    '--args',
    descriptors.bytes(Buffer.from(joinWords(args))),
    '--',
  ]
  const enter = network.enter?.(byRoot) ?? []
  const become = [
    setpriv,
    '--reuid',
    String(who.uid),
    '--regid',
    String(who.gid),
    '--clear-groups',
    '--no-new-privs',
    '--inh-caps=-all',
    '--bounding-set=-all',
    '--',
  ]
  const outside = [
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-uts',
    '--unshare-cgroup-try',
    ...(network.isShared || network.enter ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--new-session',
    '--hostname',
    'sandbox',
    '--cap-drop',
    'ALL',
    '--json-status-fd',
    String(status),
    ...(gate === undefined ? [] : ['--block-fd', String(gate)]),
    ...mounts(plan, descriptors),
  ]
  const inside = [
    '--unshare-user',
    '--chdir',
    cwd,
    ...variables(plan.env),
    '--seccomp',
    descriptors.text(seccomp.toString('latin1'), 'latin1'),
  ]
  const limited = [...setLimits(processLimitsOf(limits, true), prlimit), ...command]
  const all = byRoot
    ? [
        ...enter,
        ...bubble([
          ...outside,
          '--clearenv',
          ...['SETUID', 'SETGID', 'SETPCAP'].flatMap((name) => ['--cap-add', `CAP_${name}`]),
        ]),
        ...become,
        ...bubble(['--die-with-parent', '--dev-bind', '/', '/', ...inside]),
        ...limited,
      ]
    : [...enter, ...bubble([...outside, ...inside]), ...limited]
  return { command: all as [string, ...string[]], status, gate }
}

// A word that holds the end of a word would be read as options of its writer's choice.
function joinWords(words: readonly string[]): string {
  const broken = words.find((word) => word.includes('\0'))
  if (broken !== undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `${JSON.stringify(broken)} cannot be given to a sandbox: it holds a character that is not allowed there`,
    )
  return words.join('\0')
}

function variables(env: ChildOptions['env']): string[] {
  const entries = Object.entries(env)
  const broken = entries.find(
    ([name, value]) => name === '' || /[=\0]/.test(name) || value.includes('\0'),
  )
  if (broken)
    throw new ToolError(
      'INVALID_INPUT',
      `The variable ${JSON.stringify(broken[0])} cannot be given to a tool: its name or value holds a character that is not allowed there`,
    )
  return ['--clearenv', ...entries.flatMap(([name, value]) => ['--setenv', name, value])]
}

function mounts(
  { who, byRoot, places, files = [], network, limits }: SandboxPlan,
  descriptors: Descriptors,
): string[] {
  const inMemory = Math.min(
    LARGEST_IN_MEMORY,
    Math.max(SMALLEST_IN_MEMORY, Math.floor((limits.memoryMb ?? Infinity) / SHARE_IN_MEMORY)),
  )
  const open = (paths: readonly string[]): string[] =>
    foldersAbove(paths, places).flatMap((folder) => ['--perms', '0755', '--dir', folder])
  return [
    ...open(['/dev/null', '/etc/ssl/certs', '/etc/pki/tls/certs']),
    ...systemFolders(),
    ...[...systemSettings(network.isShared), ...madeFiles(who, network.hosts)].flatMap(
      ({ path, content, encoding }) => [
        '--perms',
        '0444',
        '--file',
        descriptors.text(content, encoding),
        path,
      ],
    ),
    ...DEVICES,
    '--proc',
    '/proc',
    '--perms',
    '1777',
    '--size',
    String(inMemory * MEBIBYTE),
    '--tmpfs',
    IN_MEMORY,
    ...[HOME, SHARED_MEMORY].flatMap((folder) => ['--perms', '1777', '--dir', folder]),
    ...places.flatMap((place) => [...open([place.path]), ...mount(place)]),
    ...places.flatMap(({ path, isHidden }) => (isHidden ? ['--remount-ro', path] : [])),
    // What root makes belongs to root; nobody but the tool is there to read it.
    ...open(files.map(({ path }) => path)),
    ...files.flatMap(({ path, content }) => [
      '--perms',
      byRoot ? '0444' : '0400',
      '--file',
      descriptors.bytes(content),
      path,
    ]),
    // What is written where nothing is granted would vanish without a word, so that it fails instead.
    '--remount-ro',
    '/',
  ]
}

function mount({ path, source, isWritable, isHidden }: Place): string[] {
  return isHidden
    ? ['--perms', '0755', '--size', String(MEBIBYTE), '--tmpfs', path]
    : [isWritable ? '--bind' : '--ro-bind', source, path]
}

// Bubblewrap would close the folders that it has to make on its way to everybody but their owner.
function foldersAbove(paths: readonly string[], places: readonly Place[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.add(folder)
  const isMade = (folder: string): boolean =>
    folder !== IN_MEMORY &&
    !isOfSystem(folder) &&
    (places.findLast((place) => contains(place.path, folder))?.isHidden ?? true)
  return [...folders].filter(isMade).sort((left, right) => left.length - right.length)
}
