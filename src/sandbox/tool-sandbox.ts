/**
 * The sandbox of a tool that runs by its manifest, built with bubblewrap. The entry of this folder.
 *
 * `prepareToolSandbox` turns child options into a launch plan: user and programs (requirements.ts),
 * network (egress.ts), mounts (mounts.ts), seccomp filter (seccomp.ts), limits (limits.ts,
 * watchdog.ts, cgroup.ts) and a controller that ends the whole namespace (namespace.ts).
 * probe-sandbox.ts is the smaller sandbox for programs that are only probed. capabilities.ts tries
 * out what this machine can enforce.
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
import { listWords } from '../util/text.ts'
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

/** Prepares the sandbox of a tool that runs by its manifest, or returns why there is none. */
export async function prepareToolSandbox(
  options: ChildOptions,
): Promise<PreparedLaunch | ToolError> {
  const profile = options.sandbox as ToolProfile
  const limits = { ...profile.grants.limits, ...options.limits }
  const user = findSandboxUser()
  if (user instanceof ToolError) return user
  const programs = findSandboxPrograms(profile.searchPath, user, [
    profile.workspace,
    ...profile.grants.write.map(({ path }) => path),
  ])
  if (programs instanceof ToolError) return programs
  const network = await openSandboxNetwork(profile, programs, user)
  if (network instanceof ToolError) return network
  const descriptors = createDescriptors()
  let removeCreated = (): void => {}
  try {
    removeCreated = createGrantedPaths(profile, user)
    chownWorkspace(profile.workspace, user)
    const { mounts, asRoot } = chooseMounts(profile, options, user)
    checkMountAccess(mounts, user)
    checkSandboxFiles(profile, mounts)
    const isVisible = findMount(mounts, options.cwd)?.isHidden === false
    const groups = await findCgroupsFor(limits)
    const wrapped = wrapToolCommand(
      {
        programs,
        user,
        asRoot,
        mounts,
        files: profile.files,
        network,
        limits,
        cwd: isVisible ? options.cwd : profile.workspace,
        env: buildInnerEnv(options.env, mounts),
        isBlocked: groups !== undefined,
      },
      options.command,
      descriptors,
    )
    const deathWatch = await openParentDeathWatch()
    const group = groups && openCgroup(groups, limits)
    let status: SandboxStatus | undefined
    return {
      plan: compact({
        command: wrapped.command,
        cwd: '/',
        env: {},
        descriptors: descriptors.all,
        attach: ((child, pid) => {
          status = readSandboxStatus(child.stdio[wrapped.status] as Readable)
          void status.started.then(network.entered)
          const depth = asRoot ? 2 : 1
          const controller = deathWatch.guard(
            pid,
            createNamespaceController(child, pid, status, depth),
          )
          if (wrapped.gate !== undefined) group?.admit(child, wrapped.gate, status, controller.kill)
          return controller
        }) satisfies LaunchPlan['attach'],
        user: user.isDropped && !asRoot ? { uid: user.uid, gid: user.gid } : undefined,
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
        removeCreated()
        const released = group ? await group.release(end) : end
        return explainToolEnd(released, options, (await status?.hasEnded()) ?? false)
      },
    }
  } catch (error) {
    descriptors.closeAll()
    await network.release(false)
    removeCreated()
    return ToolError.is(error)
      ? error
      : new ToolError(
          'SANDBOX_UNAVAILABLE',
          `${JSON.stringify(options.command[0])} got no sandbox: ${(error as Error).message}`,
          { cause: error },
        )
  }
}

// The innermost mount that contains a path.
function findMount(mounts: readonly SandboxMount[], path: string): SandboxMount | undefined {
  return mounts.findLast((mount) => isPathInside(mount.path, path))
}

function chooseMounts(
  profile: ToolProfile,
  { command: [program], env, cwd }: ChildOptions,
  user: SandboxUser,
): { readonly mounts: SandboxMount[]; readonly asRoot: boolean } {
  const file = findProgram(program, env['PATH'], cwd)
  const needed = file === undefined ? [] : listProgramParts(file)
  const asRoot =
    user.isDropped && listMounts(profile, needed).some(({ source }) => !canReachPath(source, user))
  const useful = listInterpreters(env['PATH']).filter(
    (path) => asRoot || canReachPath(resolveRealPath(path) ?? path, user),
  )
  return { asRoot, mounts: listMounts(profile, [...needed, ...useful]) }
}

function checkSandboxFiles({ files = [] }: ToolProfile, mounts: readonly SandboxMount[]): void {
  const bad = files.find(({ path }) => findMount(mounts, path))
  if (bad)
    throw new ToolError(
      'CONFIG',
      `${bad.path} cannot be a file of the sandbox alone, because it lies in a folder of this machine`,
    )
}

/** Replaces a home and a temporary folder that do not exist in the sandbox by those of the sandbox. */
function buildInnerEnv(
  env: ChildOptions['env'],
  mounts: readonly SandboxMount[],
): ChildOptions['env'] {
  const inner = { ...env }
  for (const [name, folder] of Object.entries({ HOME: SANDBOX_HOME, TMPDIR: TMP_FOLDER }))
    if (inner[name] !== undefined && !findMount(mounts, inner[name])) inner[name] = folder
  return inner
}

/** The size of the temporary folder: a quarter of the memory limit, between these. */
const MAX_TMP_MB = 256
const MIN_TMP_MB = 16
const TMP_MEMORY_DIVISOR = 4

/** The temporary folder of a tool, in memory. */
const TMP_FOLDER = '/tmp'

/** Everything that decides how one sandbox looks. */
type SandboxPlan = {
  readonly programs: SandboxPrograms
  readonly user: SandboxUser
  /** Only root can reach its mounts, so root creates the sandbox and changes its user inside. */
  readonly asRoot: boolean
  readonly mounts: readonly SandboxMount[]
  readonly files: ToolProfile['files']
  readonly network: SandboxNetwork
  readonly limits: ResourceLimits
  readonly cwd: string
  readonly env: ChildOptions['env']
  /** Whether the tool waits for a byte before it starts. */
  readonly isBlocked: boolean
}

/** A command in its sandbox, the descriptor of its status, and the one it waits for before it starts. */
type SandboxCommand = {
  readonly command: [string, ...string[]]
  readonly status: number
  readonly gate: number | undefined
}

/**
 * Wraps a command in bubblewrap. The arguments are passed by descriptor, so that they are not visible
 * in the process list. The variables of the tool are set inside, because some of them (`LD_PRELOAD`)
 * would run code outside.
 */
function wrapToolCommand(
  plan: SandboxPlan,
  command: ChildOptions['command'],
  descriptors: SandboxDescriptors,
): SandboxCommand {
  const {
    programs: { bwrap, prlimit, setpriv = 'setpriv', seccomp },
    user: { uid, gid },
    asRoot,
    network,
    limits,
    cwd,
  } = plan
  const status = descriptors.pipe()
  const gate = plan.isBlocked ? descriptors.pipe() : undefined
  const bubble = (...args: readonly string[]): string[] => {
    const descriptor = descriptors.bytes(Buffer.from(joinArguments(args)))
    return [bwrap, '--args', descriptor, '--']
  }
  const enter = network.enter?.(asRoot) ?? []
  const outside = [
    ...listWords('--unshare-ipc --unshare-pid --unshare-uts --unshare-cgroup-try'),
    ...(network.isShared || network.enter ? [] : ['--unshare-net']),
    ...listWords('--die-with-parent --new-session --hostname sandbox --cap-drop ALL'),
    ...listWords(`--json-status-fd ${status}`),
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
  if (!asRoot) {
    const all = [...enter, ...bubble(...outside, ...inside), ...limited]
    return { command: all as [string, ...string[]], status, gate }
  }
  const capabilities = '--cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP'
  const changeUser = `--reuid ${uid} --regid ${gid} --clear-groups --no-new-privs`
  const all = [
    ...enter,
    ...bubble(...outside, '--clearenv', ...listWords(capabilities)),
    setpriv,
    ...listWords(`${changeUser} --inh-caps=-all --bounding-set=-all --`),
    ...bubble('--die-with-parent', '--dev-bind', '/', '/', ...inside),
    ...limited,
  ]
  return { command: all as [string, ...string[]], status, gate }
}

// Arguments are separated by NUL, so one that contains it could add options.
function joinArguments(args: readonly string[]): string {
  const broken = args.find((argument) => argument.includes('\0'))
  if (broken !== undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `${JSON.stringify(broken)} cannot be given to a sandbox: it holds a character that is not allowed there`,
    )
  return args.join('\0')
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
  { user, asRoot, mounts, files = [], network, limits }: SandboxPlan,
  descriptors: SandboxDescriptors,
): string[] {
  const wantedMb = Math.floor((limits.memoryMb ?? Infinity) / TMP_MEMORY_DIVISOR)
  const tmpBytes = Math.min(MAX_TMP_MB, Math.max(MIN_TMP_MB, wantedMb)) * MEBIBYTE
  const createFolders = (paths: readonly string[]): string[] =>
    listFoldersToCreate(paths, mounts).flatMap((folder) => ['--perms', '0755', '--dir', folder])
  const writeFile = (path: string, perms: string, descriptor: string): string[] => [
    ...['--perms', perms],
    ...['--file', descriptor, path],
  ]
  const systemFiles = [
    ...readSystemFiles(network.isShared),
    ...generateIdentityFiles(user, network.hosts),
  ]
  return [
    ...createFolders(['/dev/null', '/etc/ssl/certs', '/etc/pki/tls/certs']),
    ...listSystemMounts(),
    ...systemFiles.flatMap(({ path, content, encoding }) =>
      writeFile(path, '0444', descriptors.text(content, encoding)),
    ),
    ...DEVICE_MOUNTS,
    ...listWords(`--proc /proc --perms 1777 --size ${tmpBytes} --tmpfs ${TMP_FOLDER}`),
    ...listWords(`--perms 1777 --dir ${SANDBOX_HOME} --perms 1777 --dir ${SHARED_MEMORY_FOLDER}`),
    ...mounts.flatMap((mount) => [...createFolders([mount.path]), ...toMountArgument(mount)]),
    ...mounts.flatMap(({ path, isHidden }) => (isHidden ? ['--remount-ro', path] : [])),
    // Files that root creates belong to root; only the tool is in the sandbox to read them.
    ...createFolders(files.map(({ path }) => path)),
    ...files.flatMap(({ path, content }) =>
      writeFile(path, asRoot ? '0444' : '0400', descriptors.bytes(content)),
    ),
    // A write outside the grants would be lost silently, so it fails instead.
    ...listWords('--remount-ro /'),
  ]
}

function toMountArgument({ path, source, isWritable, isHidden }: SandboxMount): string[] {
  return isHidden
    ? ['--perms', '0755', '--size', String(MEBIBYTE), '--tmpfs', path]
    : [isWritable ? '--bind' : '--ro-bind', source, path]
}

// Bubblewrap would create missing parent folders that only their owner can enter.
function listFoldersToCreate(paths: readonly string[], mounts: readonly SandboxMount[]): string[] {
  const folders = new Set<string>()
  for (const path of paths)
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.add(folder)
  const isMissing = (folder: string): boolean =>
    folder !== TMP_FOLDER && !isSystemPath(folder) && (findMount(mounts, folder)?.isHidden ?? true)
  return [...folders].filter(isMissing).sort((left, right) => left.length - right.length)
}

const LOCALHOST_HOSTS = '127.0.0.1 localhost\n::1 localhost\n'

/** Opens the network that a tool was granted: none, the one of this machine, or exact servers. */
async function openSandboxNetwork(
  { grants: { network }, onConnection }: ToolProfile,
  programs: SandboxPrograms,
  user: SandboxUser,
): Promise<SandboxNetwork | ToolError> {
  if (network === 'open') return { isShared: true, release: () => {} }
  if (network === 'none' || network.length === 0)
    return { isShared: false, hosts: LOCALHOST_HOSTS, release: () => {} }
  const { openEgress } = await import('./egress.ts')
  return openEgress(network, programs, user, onConnection)
}

const SIGNAL_EXIT_BASE = 128
/** Programs use this status themselves when they were cancelled. */
const CANCELLED_STATUS = 130

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name]),
)

/**
 * Turns the end of bubblewrap into the end of the tool. `hasEnded`: the command inside has ended; if
 * bubblewrap exited without that, the sandbox was never ready.
 */
function explainToolEnd(
  end: ChildEnd,
  options: ChildOptions,
  hasEnded: boolean,
): Promise<ChildEnd> {
  if (end.reason === 'exited' && end.status !== null && !hasEnded) {
    const line = readFirstErrorLine(end).replace(/^bwrap: /, '')
    const problem = toBubblewrapError(line || `bwrap ended with status ${end.status}`)
    return Promise.resolve({ ...end, reason: 'not-started', problem })
  }
  const signal =
    end.status === null || end.status === CANCELLED_STATUS
      ? undefined
      : SIGNAL_NAMES.get(end.status - SIGNAL_EXIT_BASE)
  return explainLimitedEnd(signal === undefined ? end : { ...end, status: null, signal }, options)
}
