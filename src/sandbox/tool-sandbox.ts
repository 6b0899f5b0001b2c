/**
 * The sandbox of a tool that runs by its manifest, built with bubblewrap. The entry of this folder.
 *
 * `prepare` turns child options into a launch plan: user and programs (requirements.ts), network
 * (egress.ts), mounts (mounts.ts), seccomp filter (seccomp.ts), limits (limits.ts, watchdog.ts,
 * cgroup.ts)
 * and a controller that ends the whole namespace (namespace.ts). probe-sandbox.ts is the smaller
 * sandbox for programs that are only asked what they are.
 * capabilities.ts tries out what this machine can enforce.
 */

import { constants } from 'node:os'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import type {
  ChildEnd,
  ChildOptions,
  LaunchPlan,
  PreparedLaunch,
  ToolProfile,
} from '../process/child.ts'
import type { ResourceLimits } from '../process/grants.ts'
import { findProgram, listInterpreters, listProgramParts } from '../process/programs.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact } from '../util/values.ts'
import type { SandboxDescriptors } from './bubblewrap.ts'
import {
  createDescriptors,
  explainLimitedEnd,
  readFirstErrorLine,
  toBubblewrapError,
} from './bubblewrap.ts'
import { findCgroupsFor, openCgroup } from './cgroup.ts'
import type { SandboxNetwork } from './egress.ts'
import { buildLimitCommand, openParentDeathWatch, toProcessLimits } from './limits.ts'
import type { SandboxMount } from './mounts.ts'
import {
  checkMountAccess,
  chownWorkspace,
  createGrantedPaths,
  DEVICE_MOUNTS,
  generateIdentityFiles,
  isSystemPath,
  listMounts,
  listSystemMounts,
  readSystemFiles,
  SANDBOX_HOME,
  SHARED_MEMORY_FOLDER,
} from './mounts.ts'
import type { SandboxStatus } from './namespace.ts'
import { createNamespaceController, readSandboxStatus } from './namespace.ts'
import type { SandboxPrograms, SandboxUser } from './requirements.ts'
import { canReachPath, findSandboxPrograms, findSandboxUser } from './requirements.ts'
import { watchLimits } from './watchdog.ts'

/** The sandbox of a tool that runs by its manifest, or why it cannot have one. */
export async function prepare(options: ChildOptions): Promise<PreparedLaunch | ToolError> {
  const profile = options.sandbox as ToolProfile
  const limits = { ...profile.grants.limits, ...options.limits }
  const who = findSandboxUser()
  if (who instanceof ToolError) return who
  const programs = findSandboxPrograms(profile.searchPath, who, [
    profile.workspace,
    ...profile.grants.write.map(({ path }) => path),
  ])
  if (programs instanceof ToolError) return programs
  const network = await openSandboxNetwork(profile, programs, who)
  if (network instanceof ToolError) return network
  const descriptors = createDescriptors()
  let removeMade = (): void => {}
  try {
    removeMade = createGrantedPaths(profile, who)
    chownWorkspace(profile.workspace, who)
    const { places, byRoot } = chooseMounts(profile, options, who)
    checkMountAccess(places, who)
    checkSandboxFiles(profile, places)
    const cwd =
      (places.findLast(({ path }) => isPathInside(path, options.cwd))?.isHidden ?? true) === false
        ? options.cwd
        : profile.workspace
    const groups = await findCgroupsFor(limits)
    const wrapped = wrapToolCommand(
      {
        programs,
        user: who,
        asRoot: byRoot,
        mounts: places,
        files: profile.files,
        network,
        limits,
        cwd,
        env: buildInnerEnv(options.env, places),
        isBlocked: groups !== undefined,
      },
      options.command,
      descriptors,
    )
    const deathWatch = await openParentDeathWatch()
    const group = groups && openCgroup(groups, limits)
    let status: SandboxStatus | undefined
    const take: LaunchPlan['attach'] = (child, pid) => {
      status = readSandboxStatus(child.stdio[wrapped.status] as Readable)
      void status.started.then(network.entered)
      const controller = deathWatch.guard(
        pid,
        createNamespaceController(child, pid, status, byRoot ? 2 : 1),
        undefined,
      )
      if (wrapped.gate !== undefined) group?.admit(child, wrapped.gate, status, controller.kill)
      return controller
    }
    return {
      plan: compact({
        command: wrapped.command,
        cwd: '/',
        env: {},
        descriptors: descriptors.all,
        attach: take,
        user: who.isDropped && !byRoot ? { uid: who.uid, gid: who.gid } : undefined,
      }),
      watch: (root, onReached, input) =>
        watchLimits(
          group?.watchedLimits ?? limits,
          {
            workspace: profile.workspace,
            memoryFolders: [TMP_FOLDER],
            input,
            countProcesses: false,
          },
          root,
          onReached,
        ),
      explain: async (end): Promise<ChildEnd> => {
        await network.release(end.reason === 'exited')
        removeMade()
        return explainToolEnd(
          group ? await group.release(end) : end,
          options,
          (await status?.hasEnded()) ?? false,
        )
      },
    }
  } catch (error) {
    descriptors.closeAll()
    await network.release(false)
    removeMade()
    return ToolError.is(error)
      ? error
      : new ToolError(
          'SANDBOX_UNAVAILABLE',
          `${JSON.stringify(options.command[0])} got no sandbox: ${(error as Error).message}`,
          { cause: error },
        )
  }
}

function chooseMounts(
  profile: ToolProfile,
  { command: [program], env, cwd }: ChildOptions,
  who: SandboxUser,
): { readonly places: SandboxMount[]; readonly byRoot: boolean } {
  const file = findProgram(program, env['PATH'], cwd)
  const needed = file === undefined ? [] : listProgramParts(file)
  const byRoot =
    who.isDropped && listMounts(profile, needed).some(({ source }) => !canReachPath(source, who))
  const useful = listInterpreters(env['PATH']).filter(
    (path) => byRoot || canReachPath(resolveRealPath(path) ?? path, who),
  )
  return { byRoot, places: listMounts(profile, [...needed, ...useful]) }
}

function checkSandboxFiles({ files = [] }: ToolProfile, places: readonly SandboxMount[]): void {
  const bad = files.find(({ path }) => places.some((place) => isPathInside(place.path, path)))
  if (bad)
    throw new ToolError(
      'CONFIG',
      `${bad.path} cannot be a file of the sandbox alone, because it lies in a folder of this machine`,
    )
}

/**
 * The variables as they are given, but a home and a temporary folder that are not there become
 * those of the sandbox.
 */
function buildInnerEnv(
  env: ChildOptions['env'],
  places: readonly SandboxMount[],
): ChildOptions['env'] {
  const isSeen = (path: string): boolean => places.some((place) => isPathInside(place.path, path))
  const moved = (
    [
      ['HOME', SANDBOX_HOME],
      ['TMPDIR', '/tmp'],
    ] as const
  ).filter(([name]) => env[name] !== undefined && !isSeen(env[name]))
  return { ...env, ...Object.fromEntries(moved) }
}

/** The folder in memory is as large as this, or a quarter of the memory that the tool may use. */
const MAX_TMP_MB = 256
const MIN_TMP_MB = 16
const TMP_MEMORY_DIVISOR = 4

/** The folder in memory that every tool has of its own. */
const TMP_FOLDER = '/tmp'

/** One sandbox, decided to the last detail. */
type SandboxPlan = {
  readonly programs: SandboxPrograms
  readonly user: SandboxUser
  /**
   * Whether only root gets at its places, so that root has to make it and becomes somebody else in
   * it.
   */
  readonly asRoot: boolean
  readonly mounts: readonly SandboxMount[]
  readonly files: ToolProfile['files']
  readonly network: SandboxNetwork
  readonly limits: ResourceLimits
  readonly cwd: string
  readonly env: ChildOptions['env']
  /** Whether the tool waits until it is told to go. */
  readonly isBlocked: boolean
}

/**
 * A command in its sandbox, the descriptor at which bubblewrap tells how it goes, and the one at
 * which it waits for a byte before the tool starts.
 */
type SandboxCommand = {
  readonly command: [string, ...string[]]
  readonly status: number
  readonly gate: number | undefined
}

/**
 * The command that runs a command in a sandbox. Bubblewrap gets its arguments by descriptor, so
 * that nobody can read them from the list of processes, and no variables:
 * those of the tool are set where it starts, because some of them (`LD_PRELOAD`) would run code of
 * its choice outside.
 */
function wrapToolCommand(
  plan: SandboxPlan,
  command: ChildOptions['command'],
  descriptors: SandboxDescriptors,
): SandboxCommand {
  const {
    programs: { bwrap, prlimit, setpriv = 'setpriv', seccomp },
    user: who,
    asRoot: byRoot,
    network,
    limits,
    cwd,
  } = plan
  const status = descriptors.pipe()
  const gate = plan.isBlocked ? descriptors.pipe() : undefined
  const bubble = (args: readonly string[]): string[] => [
    bwrap,
    '--args',
    descriptors.bytes(Buffer.from(joinArguments(args))),
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
    ...toMountArguments(plan, descriptors),
  ]
  const inside = [
    '--unshare-user',
    '--chdir',
    cwd,
    ...toEnvArguments(plan.env),
    '--seccomp',
    descriptors.text(seccomp.toString('latin1'), 'latin1'),
  ]
  const limited = [...buildLimitCommand(toProcessLimits(limits, true), prlimit), ...command]
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
function joinArguments(words: readonly string[]): string {
  const broken = words.find((word) => word.includes('\0'))
  if (broken !== undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `${JSON.stringify(broken)} cannot be given to a sandbox: it holds a character that is not allowed there`,
    )
  return words.join('\0')
}

function toEnvArguments(env: ChildOptions['env']): string[] {
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

function toMountArguments(
  { user: who, asRoot: byRoot, mounts: places, files = [], network, limits }: SandboxPlan,
  descriptors: SandboxDescriptors,
): string[] {
  const inMemory = Math.min(
    MAX_TMP_MB,
    Math.max(MIN_TMP_MB, Math.floor((limits.memoryMb ?? Infinity) / TMP_MEMORY_DIVISOR)),
  )
  const open = (paths: readonly string[]): string[] =>
    listFoldersToCreate(paths, places).flatMap((folder) => ['--perms', '0755', '--dir', folder])
  return [
    ...open(['/dev/null', '/etc/ssl/certs', '/etc/pki/tls/certs']),
    ...listSystemMounts(),
    ...[...readSystemFiles(network.isShared), ...generateIdentityFiles(who, network.hosts)].flatMap(
      ({ path, content, encoding }) => [
        '--perms',
        '0444',
        '--file',
        descriptors.text(content, encoding),
        path,
      ],
    ),
    ...DEVICE_MOUNTS,
    '--proc',
    '/proc',
    '--perms',
    '1777',
    '--size',
    String(inMemory * MEBIBYTE),
    '--tmpfs',
    TMP_FOLDER,
    ...[SANDBOX_HOME, SHARED_MEMORY_FOLDER].flatMap((folder) => [
      '--perms',
      '1777',
      '--dir',
      folder,
    ]),
    ...places.flatMap((place) => [...open([place.path]), ...toMountArgument(place)]),
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
    // What is written where nothing is granted would vanish without a word, so that it fails
    // instead.
    '--remount-ro',
    '/',
  ]
}

function toMountArgument({ path, source, isWritable, isHidden }: SandboxMount): string[] {
  return isHidden
    ? ['--perms', '0755', '--size', String(MEBIBYTE), '--tmpfs', path]
    : [isWritable ? '--bind' : '--ro-bind', source, path]
}

// Bubblewrap would close the folders that it has to make on its way to everybody but their owner.
function listFoldersToCreate(paths: readonly string[], places: readonly SandboxMount[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.add(folder)
  const isMade = (folder: string): boolean =>
    folder !== TMP_FOLDER &&
    !isSystemPath(folder) &&
    (places.findLast((place) => isPathInside(place.path, folder))?.isHidden ?? true)
  return [...folders].filter(isMade).sort((left, right) => left.length - right.length)
}

const LOCALHOST_HOSTS = '127.0.0.1 localhost\n::1 localhost\n'

/** Opens the network that a tool was granted: none, the one of this machine, or exact servers. */
async function openSandboxNetwork(
  { grants: { network }, onConnection }: ToolProfile,
  programs: SandboxPrograms,
  who: SandboxUser,
): Promise<SandboxNetwork | ToolError> {
  if (network === 'open') return { isShared: true, release: () => {} }
  if (network === 'none' || network.length === 0)
    return { isShared: false, hosts: LOCALHOST_HOSTS, release: () => {} }
  const { openEgress } = await import('./egress.ts')
  return openEgress(network, programs, who, onConnection)
}

const SIGNAL_EXIT_BASE = 128
/** Programs that were cancelled say so with this status of their own. */
const CANCELLED_STATUS = 130

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
)

/**
 * The end of a tool as if there were no sandbox. `hasEnded` tells whether the command inside came
 * to an end; where it did not, and nobody ended it, the sandbox was never ready.
 */
function explainToolEnd(
  end: ChildEnd,
  options: ChildOptions,
  hasEnded: boolean,
): Promise<ChildEnd> {
  if (end.reason === 'exited' && end.status !== null && !hasEnded) {
    const words = readFirstErrorLine(end).replace(/^bwrap: /, '')
    const problem = toBubblewrapError(words || `bwrap ended with status ${end.status}`)
    return Promise.resolve({ ...end, reason: 'not-started', problem })
  }
  const signal =
    end.status === null || end.status === CANCELLED_STATUS
      ? undefined
      : SIGNAL_NAMES.get(end.status - SIGNAL_EXIT_BASE)
  return explainLimitedEnd(signal === undefined ? end : { ...end, status: null, signal }, options)
}
