import { contains, realPath } from '../paths.ts'
import { listHiddenPlaces, placeInSandbox } from './hidden.ts'
import type { HiddenPlace } from './hidden.ts'
import { listInstallations, listInstallationsOf } from '../installations.ts'
import type { ProbeProfile } from '../profile.ts'
import { PRIVATE_FOLDER } from '../profile.ts'

const MEBIBYTE = 1024 * 1024
const SIZE_OF_TMP = String(64 * MEBIBYTE)
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom']

/** Limits of each process in the sandbox. Node and Java reserve more address space than they use, so that data counts, not addresses. */
const LIMITS = [
  '--core=1',
  '--nofile=1024',
  '--nproc=256',
  '--cpu=60',
  `--data=${1024 * MEBIBYTE}`,
  `--fsize=${64 * MEBIBYTE}`,
]

/** How this machine makes a sandbox: the programs for it, and whether user namespaces are part of it. */
export type Bubblewrap = {
  readonly bwrap: string
  readonly prlimit: string | undefined
  readonly userNamespace: boolean
}

/** The command that runs a command in a sandbox; `more` are arguments for bubblewrap. */
export function wrapCommand(
  sandbox: Bubblewrap,
  { readable = [] }: ProbeProfile,
  command: readonly [string, ...string[]],
  path: string | undefined,
  more: readonly string[] = [],
): [string, ...string[]] {
  const [program] = command
  const { hidden, shown } = groundOf(path ?? '')
  const asked = showPaths(
    [...(program.includes('/') ? listInstallationsOf(program) : []), ...readable],
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
    ...hidden.flatMap(({ real }) => ['--size', SIZE_OF_TMP, '--tmpfs', real]),
    ...devices(),
    '--proc',
    '/proc',
    ...bindings([...shown, ...asked]),
    '--dir',
    PRIVATE_FOLDER,
    // What is written outside the temporary directory would vanish without a word, so that it fails instead.
    ...hidden.flatMap(({ real }) => (real === '/tmp' ? [] : ['--remount-ro', real])),
    ...['HOME', 'TMPDIR'].flatMap((name) => ['--setenv', name, PRIVATE_FOLDER]),
    '--chdir',
    PRIVATE_FOLDER,
    ...more,
    '--',
    ...(sandbox.prlimit === undefined ? [] : [sandbox.prlimit, ...LIMITS, '--']),
    ...command,
  ]
}

// Whoever makes a device folder with `--dev` gets unlimited shared memory and a second user namespace besides.
function devices(): string[] {
  return [
    '--tmpfs',
    '/dev',
    ...DEVICES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
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
    SIZE_OF_TMP,
    '--tmpfs',
    '/dev/shm',
    '--remount-ro',
    '/dev',
  ]
}

type Shown = readonly [target: string, source: string]

function showPaths(paths: readonly string[], hidden: readonly HiddenPlace[]): Shown[] {
  return paths.flatMap((path) => {
    const real = realPath(path)
    const targets =
      real === undefined ? [] : [path, real].flatMap((seen) => placeInSandbox(seen, hidden) ?? [])
    // To show a hidden place as a whole would hide nothing.
    return targets
      .filter((target) => !hidden.some((place) => contains(target, place.real)))
      .map((target) => [target, real!] as const)
  })
}

// Outer folders first, and nothing twice: what lies in a folder that is shown already is there.
function bindings(all: readonly Shown[]): string[] {
  const shown = [...new Map(all)]
  const outer = shown.filter(
    ([target, real]) =>
      !shown.some(
        ([other, source]) => other !== target && contains(other, target) && contains(source, real),
      ),
  )
  return outer
    .sort(([left], [right]) => left.length - right.length)
    .flatMap(([target, real]) => ['--ro-bind-try', real, target])
}

type Ground = { readonly hidden: readonly HiddenPlace[]; readonly shown: readonly Shown[] }
const known = new Map<string, Ground>()

// The same for every child with that PATH, and dear to find out.
function groundOf(path: string): Ground {
  const found = known.get(path)
  if (found) return found
  const hidden = listHiddenPlaces()
  const ground = { hidden, shown: showPaths(listInstallations(path), hidden) }
  known.set(path, ground)
  return ground
}
