/**
 * The sandbox for programs that are only asked what they are: everything read-only, homes and
 * temporary folders hidden, no network. `findSandbox` tries it once per PATH.
 */

import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { ChildOptions, PreparedLaunch, ProbeProfile } from '../process/child.ts'
import { createGroupController, PROBE_HOME } from '../process/child.ts'
import type { HostEnv } from '../process/environment.ts'
import { cpuArchitecture, isLinux } from '../process/host.ts'
import {
  DEFAULT_PATH,
  findProgram,
  listInstallations,
  listProgramInstallations,
} from '../process/programs.ts'
import { supervise } from '../process/supervise.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { SandboxDescriptors } from './bubblewrap.ts'
import {
  createDescriptors,
  explainSandboxEnd,
  readFirstErrorLine,
  toBubblewrapError,
  toNoSandboxError,
} from './bubblewrap.ts'
import { getSeccompProgram } from './seccomp.ts'

/** The sandbox of a child that is only asked what it is, or why there is none. */
export async function prepare(options: ChildOptions): Promise<PreparedLaunch | ToolError> {
  const { env } = options
  const found = await findSandbox(env)
  if (!found.available) return found.problem
  const descriptors = createDescriptors()
  const seccomp = toSeccompArguments(descriptors)
  if (seccomp instanceof ToolError) return seccomp
  const command = wrapProbeCommand(
    found.bubblewrap,
    options.sandbox as ProbeProfile,
    options.command,
    env['PATH'],
    seccomp,
  )
  return {
    plan: {
      command,
      cwd: '/',
      env,
      descriptors: descriptors.all,
      attach: (_child, pid) => createGroupController(pid),
    },
    explain: (end) => explainSandboxEnd(end, options),
  }
}

// Nobody has asked for what is only looked at, so that it gets no more of the kernel than a tool.
// Other machines do without.
function toSeccompArguments(descriptors: SandboxDescriptors): readonly string[] | ToolError {
  const program = getSeccompProgram(cpuArchitecture)
  try {
    return program ? ['--seccomp', descriptors.text(program.toString('latin1'), 'latin1')] : []
  } catch (error) {
    return toNoSandboxError((error as Error).message, 'Mount /dev/shm')
  }
}

const TRIAL_PROFILE = { writable: 'private-tmp', network: 'none' } as const

/** A sandbox that works on this machine, or why there is none. */
type SandboxLookup =
  | { readonly available: true; readonly bubblewrap: BubblewrapPrograms }
  | { readonly available: false; readonly problem: ToolError }

const sandboxLookups = new Map<string, Promise<SandboxLookup>>()

/**
 * Finds out, by running it, whether this machine can make a sandbox. The answer is kept for each
 * PATH.
 */
export function findSandbox(env: HostEnv): Promise<SandboxLookup> {
  const path = env['PATH'] ?? ''
  const found = sandboxLookups.get(path) ?? trySandbox(path)
  sandboxLookups.set(path, found)
  return found
}

async function trySandbox(path: string): Promise<SandboxLookup> {
  if (!isLinux) return toMissingSandbox('sandboxes need Linux and bubblewrap', 'Run this on Linux')
  const search = `${path}:${DEFAULT_PATH}`
  const bwrap = findProgram('bwrap', search)
  if (bwrap === undefined)
    return toMissingSandbox('bubblewrap is not installed', 'sudo apt-get install bubblewrap')
  const prlimit = findProgram('prlimit', search)
  let words = ''
  // Root can do without user namespaces where they are forbidden.
  for (const userNamespace of [true, false]) {
    const bubblewrap: BubblewrapPrograms = { bwrap, prlimit, userNamespace }
    const trial = await supervise(
      {
        command: wrapProbeCommand(bubblewrap, TRIAL_PROFILE, ['true'], path),
        cwd: '/',
        env: { PATH: search },
        timeout: 5000,
      },
      'ignore',
    )
    const { status, stderr, problem } = await trial.end
    if (status === 0) return { available: true, bubblewrap }
    words ||=
      (problem?.message ?? readFirstErrorLine({ stderr })) || `bwrap ended with status ${status}`
  }
  return { available: false, problem: toBubblewrapError(words) }
}

function toMissingSandbox(why: string, fix: string): SandboxLookup {
  return { available: false, problem: toNoSandboxError(why, fix) }
}

const TMP_SIZE_BYTES = String(64 * MEBIBYTE)
const DEVICE_NAMES = ['null', 'zero', 'full', 'random', 'urandom']

/**
 * Limits of each process in the sandbox. Node and Java reserve more address space than they use, so
 * that data counts, not addresses.
 */
const PROBE_RLIMITS = [
  '--core=1',
  '--nofile=1024',
  '--nproc=256',
  '--cpu=60',
  `--data=${1024 * MEBIBYTE}`,
  `--fsize=${64 * MEBIBYTE}`,
]

/**
 * How this machine makes a sandbox: the programs for it, and whether user namespaces are part of
 * it.
 */
type BubblewrapPrograms = {
  readonly bwrap: string
  readonly prlimit: string | undefined
  readonly userNamespace: boolean
}

/** The command that runs a command in a sandbox; `more` are arguments for bubblewrap. */
function wrapProbeCommand(
  sandbox: BubblewrapPrograms,
  { readable = [] }: ProbeProfile,
  command: readonly [string, ...string[]],
  path: string | undefined,
  more: readonly string[] = [],
): [string, ...string[]] {
  const [program] = command
  const { hidden, shown } = getBaseMounts(path ?? '')
  const asked = listVisiblePaths(
    [...(program.includes('/') ? listProgramInstallations(program) : []), ...readable],
    hidden,
  )
  return [
    sandbox.bwrap,
    ...(sandbox.userNamespace ? ['--unshare-user'] : []),
    '--unshare-ipc',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--hostname',
    'sandbox',
    '--ro-bind',
    '/',
    '/',
    ...hidden.flatMap(({ real }) => ['--size', TMP_SIZE_BYTES, '--tmpfs', real]),
    ...toDeviceArguments(),
    '--proc',
    '/proc',
    ...toBindArguments([...shown, ...asked]),
    '--dir',
    PROBE_HOME,
    // What is written outside the temporary directory would vanish without a word, so that it fails
    // instead.
    ...hidden.flatMap(({ real }) => (real === '/tmp' ? [] : ['--remount-ro', real])),
    ...['HOME', 'TMPDIR'].flatMap((name) => ['--setenv', name, PROBE_HOME]),
    '--chdir',
    PROBE_HOME,
    ...more,
    '--',
    ...(sandbox.prlimit === undefined ? [] : [sandbox.prlimit, ...PROBE_RLIMITS, '--']),
    ...command,
  ]
}

// Whoever makes a device folder with `--dev` gets unlimited shared memory and a second user
// namespace besides.
function toDeviceArguments(): string[] {
  return [
    '--tmpfs',
    '/dev',
    ...DEVICE_NAMES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
    ...['stdin', 'stdout', 'stderr'].flatMap((name, descriptor) => [
      '--symlink',
      `/proc/self/fd/${descriptor}`,
      `/dev/${name}`,
    ]),
    '--symlink',
    '/proc/self/fd',
    '/dev/fd',
    '--perms',
    '1777',
    '--size',
    TMP_SIZE_BYTES,
    '--tmpfs',
    '/dev/shm',
    '--remount-ro',
    '/dev',
  ]
}

type VisiblePath = readonly [target: string, source: string]

function listVisiblePaths(
  paths: readonly string[],
  hidden: readonly HiddenFolder[],
): VisiblePath[] {
  return paths.flatMap((path) => {
    const real = resolveRealPath(path)
    const targets =
      real === undefined ? [] : [path, real].flatMap((seen) => toSandboxPath(seen, hidden) ?? [])
    // To show a hidden place as a whole would hide nothing.
    return targets
      .filter((target) => !hidden.some((place) => isPathInside(target, place.real)))
      .map((target) => [target, real!] as const)
  })
}

// Outer folders first, and nothing twice: what lies in a folder that is shown already is there.
function toBindArguments(all: readonly VisiblePath[]): string[] {
  const shown = [...new Map(all)]
  const outer = shown.filter(
    ([target, real]) =>
      !shown.some(
        ([other, source]) =>
          other !== target && isPathInside(other, target) && isPathInside(source, real),
      ),
  )
  return outer
    .sort(([left], [right]) => left.length - right.length)
    .flatMap(([target, real]) => ['--ro-bind-try', real, target])
}

type BaseMounts = {
  readonly hidden: readonly HiddenFolder[]
  readonly shown: readonly VisiblePath[]
}
const baseMountsByPath = new Map<string, BaseMounts>()

// The same for every child with that PATH, and dear to find out.
function getBaseMounts(path: string): BaseMounts {
  const found = baseMountsByPath.get(path)
  if (found) return found
  const hidden = listHiddenFolders()
  const ground = { hidden, shown: listVisiblePaths(listInstallations(path), hidden) }
  baseMountsByPath.set(path, ground)
  return ground
}

const HIDDEN_PATHS = ['/tmp', '/home', '/root', '/var/home', '/var/tmp', '/run']

/** A folder that the sandbox shows empty: as people write it, and as it really is called. */
type HiddenFolder = { readonly written: string; readonly real: string }

/** Homes of users, temporary files, and the sockets of services; only what exists. */
function listHiddenFolders(): readonly HiddenFolder[] {
  const places = [...HIDDEN_PATHS, tmpdir(), homedir()].flatMap((written) => {
    const real = resolveRealPath(written)
    return real === undefined || real === '/' ? [] : [{ written, real }]
  })
  return places.filter(
    ({ real }, index) =>
      !places.some((other, at) =>
        at < index
          ? isPathInside(other.real, real)
          : at > index && other.real !== real && isPathInside(other.real, real),
      ),
  )
}

/**
 * Where a path of the host lies in the sandbox when it would be hidden there; undefined where it is
 * seen anyway.
 */
function toSandboxPath(path: string, hidden: readonly HiddenFolder[]): string | undefined {
  const place = hidden.find(
    ({ written, real }) => isPathInside(written, path) || isPathInside(real, path),
  )
  return (
    place &&
    join(place.real, relative(isPathInside(place.written, path) ? place.written : place.real, path))
  )
}
