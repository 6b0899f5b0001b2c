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
import { listWords } from '../util/text.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { SandboxDescriptors } from './bubblewrap.ts'
import {
  bindDevices,
  createDescriptors,
  explainSandboxEnd,
  readFirstErrorLine,
  STREAM_LINKS,
  toBubblewrapError,
  toNoSandboxError,
} from './bubblewrap.ts'
import { getSeccompProgram } from './seccomp.ts'

/** Prepares the sandbox of a program that is only probed, or returns why there is none. */
export async function prepareProbeSandbox(
  options: ChildOptions,
): Promise<PreparedLaunch | ToolError> {
  const { env, command } = options
  const found = await findSandbox(env)
  if (!found.available) return found.problem
  const descriptors = createDescriptors()
  const seccomp = toSeccompArguments(descriptors)
  if (seccomp instanceof ToolError) return seccomp
  const profile = options.sandbox as ProbeProfile
  return {
    plan: {
      command: wrapProbeCommand(found.bubblewrap, profile, command, env['PATH'], seccomp),
      cwd: '/',
      env,
      descriptors: descriptors.all,
      attach: (_child, pid) => createGroupController(pid),
    },
    explain: (end) => explainSandboxEnd(end, options),
  }
}

// A probed program gets the same seccomp filter as a tool, on architectures that have one.
function toSeccompArguments(descriptors: SandboxDescriptors): readonly string[] | ToolError {
  const program = getSeccompProgram(cpuArchitecture)
  try {
    return program ? ['--seccomp', descriptors.text(program.toString('latin1'), 'latin1')] : []
  } catch (error) {
    return toNoSandboxError((error as Error).message, 'Mount /dev/shm')
  }
}

const TRIAL_PROFILE = { writable: 'private-tmp', network: 'none' } as const

/** The programs of a sandbox that works on this machine, or why there is none. */
type SandboxLookup =
  | { readonly available: true; readonly bubblewrap: BubblewrapPrograms }
  | { readonly available: false; readonly problem: ToolError }

const sandboxLookups = new Map<string, Promise<SandboxLookup>>()

/** Tries whether this machine can create a sandbox, once for each PATH. */
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
  let reason = ''
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
    reason ||=
      (problem?.message ?? readFirstErrorLine({ stderr })) || `bwrap ended with status ${status}`
  }
  return { available: false, problem: toBubblewrapError(reason) }
}

function toMissingSandbox(why: string, fix: string): SandboxLookup {
  return { available: false, problem: toNoSandboxError(why, fix) }
}

const TMP_SIZE_BYTES = String(64 * MEBIBYTE)

/**
 * Limits of each process in the sandbox. Node and Java reserve more address space than they use, so
 * data is limited instead.
 */
const PROBE_RLIMITS = listWords(
  `--core=1 --nofile=1024 --nproc=256 --cpu=60 --data=${1024 * MEBIBYTE} --fsize=${64 * MEBIBYTE}`,
)

/** The programs that create a sandbox, and whether they use user namespaces. */
type BubblewrapPrograms = {
  readonly bwrap: string
  readonly prlimit: string | undefined
  readonly userNamespace: boolean
}

/** Wraps a command in bubblewrap; `more` are further arguments for it. */
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
    ...listWords('--unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try'),
    ...listWords('--die-with-parent --new-session --cap-drop ALL --hostname sandbox'),
    ...listWords('--ro-bind / /'),
    ...hidden.flatMap(({ real }) => ['--size', TMP_SIZE_BYTES, '--tmpfs', real]),
    ...DEVICE_ARGUMENTS,
    ...listWords('--proc /proc'),
    ...toBindArguments([...shown, ...asked]),
    ...listWords(`--dir ${PROBE_HOME}`),
    // A write outside the temporary folder would be lost silently, so it fails instead.
    ...hidden.flatMap(({ real }) => (real === '/tmp' ? [] : ['--remount-ro', real])),
    ...listWords(`--setenv HOME ${PROBE_HOME} --setenv TMPDIR ${PROBE_HOME} --chdir ${PROBE_HOME}`),
    ...more,
    '--',
    ...(sandbox.prlimit === undefined ? [] : [sandbox.prlimit, ...PROBE_RLIMITS, '--']),
    ...command,
  ]
}

const DEVICE_ARGUMENTS = [
  ...listWords('--tmpfs /dev'),
  ...bindDevices('null zero full random urandom'),
  ...STREAM_LINKS,
  ...listWords(`--perms 1777 --size ${TMP_SIZE_BYTES} --tmpfs /dev/shm --remount-ro /dev`),
]

type VisiblePath = readonly [target: string, source: string]

function listVisiblePaths(
  paths: readonly string[],
  hidden: readonly HiddenFolder[],
): VisiblePath[] {
  return paths.flatMap((path) => {
    const real = resolveRealPath(path)
    const targets =
      real === undefined ? [] : [path, real].flatMap((seen) => toSandboxPath(seen, hidden) ?? [])
    // Showing a hidden folder as a whole would hide nothing.
    return targets
      .filter((target) => !hidden.some((folder) => isPathInside(target, folder.real)))
      .map((target) => [target, real!] as const)
  })
}

// Outer folders first, without paths inside a folder that is shown already.
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

// Finding them is expensive, and they are the same for every child with that PATH.
function getBaseMounts(path: string): BaseMounts {
  const found = baseMountsByPath.get(path)
  if (found) return found
  const hidden = listHiddenFolders()
  const mounts = { hidden, shown: listVisiblePaths(listInstallations(path), hidden) }
  baseMountsByPath.set(path, mounts)
  return mounts
}

const HIDDEN_PATHS = ['/tmp', '/home', '/root', '/var/home', '/var/tmp', '/run']

/** A folder that is empty in the sandbox: as it is written, and with links resolved. */
type HiddenFolder = { readonly written: string; readonly real: string }

/** Lists the existing homes, temporary folders and folders with sockets of services. */
function listHiddenFolders(): readonly HiddenFolder[] {
  const folders = [...HIDDEN_PATHS, tmpdir(), homedir()].flatMap((written) => {
    const real = resolveRealPath(written)
    return real === undefined || real === '/' ? [] : [{ written, real }]
  })
  // Of equal folders, the first stays.
  return folders.filter(
    ({ real }, index) =>
      !folders.some(
        (other, at) =>
          at !== index && isPathInside(other.real, real) && (at < index || other.real !== real),
      ),
  )
}

/** Returns where to mount a path that would be hidden, or undefined for a visible path. */
function toSandboxPath(path: string, hidden: readonly HiddenFolder[]): string | undefined {
  const folder = hidden.find(
    ({ written, real }) => isPathInside(written, path) || isPathInside(real, path),
  )
  if (!folder) return undefined
  const { written, real } = folder
  return join(real, relative(isPathInside(written, path) ? written : real, path))
}
