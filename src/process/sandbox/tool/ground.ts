import { lstatSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import type { MadeFile } from './made-files.ts'

/** Folders of the system, which differ between systems in whether they are folders or links into /usr. Every mount costs time, so that there are no more than programs need. */
const SYSTEM = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/pki/tls/certs',
  '/etc/pki/ca-trust',
  '/etc/crypto-policies',
]

/** The few files of /etc that programs cannot do without: where libraries lie, how certificates are read, the time zone, and names of ports. They are copied, which is cheaper than a mount. */
const SETTINGS = [
  '/etc/ld.so.cache',
  '/etc/ssl/openssl.cnf',
  '/etc/localtime',
  '/etc/services',
  '/etc/protocols',
]
const FOR_NETWORK = ['/etc/hosts', '/etc/resolv.conf', '/etc/host.conf', '/etc/gai.conf']
const LARGEST = 4 * 1024 * 1024

/** Where memory is shared, a part of the temporary folder. */
export const SHARED_MEMORY = '/tmp/.shared'

/** Places of the system that every tool sees, so that nobody has to show them again. */
export const isOfSystem = (path: string): boolean =>
  SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`))

let known: readonly string[] | undefined

/** The system without anything of its users: its programs, read-only. */
export function systemFolders(): readonly string[] {
  known ??= SYSTEM.flatMap((folder) => {
    try {
      return lstatSync(folder).isSymbolicLink()
        ? ['--symlink', readlinkSync(folder), folder]
        : ['--ro-bind', folder, folder]
    } catch {
      return []
    }
  })
  return known
}

const read = new Map<string, { readonly changed: number; readonly content: string | undefined }>()

/** The settings that programs read, as they are now; those of the network only where there is one. */
export function systemSettings(hasNetwork: boolean): MadeFile[] {
  return [...SETTINGS, ...(hasNetwork ? FOR_NETWORK : [])].flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found?.isFile() || found.size > LARGEST) return []
    const last = read.get(path)
    const content = last?.changed === found.mtimeMs ? last.content : readSetting(path)
    read.set(path, { changed: found.mtimeMs, content })
    return content === undefined ? [] : [{ path, content, encoding: 'latin1' as const }]
  })
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

/** Devices that hold nothing. Whoever makes this folder with `--dev` gets unlimited shared memory and a second user namespace besides. */
export const DEVICES: readonly string[] = [
  ...['null', 'zero', 'urandom'].flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
  '--symlink',
  'urandom',
  '/dev/random',
  ...['stdin', 'stdout', 'stderr'].flatMap((name, descriptor) => [
    '--symlink',
    `/proc/self/fd/${descriptor}`,
    `/dev/${name}`,
  ]),
  '--symlink',
  '/proc/self/fd',
  '/dev/fd',
  '--symlink',
  SHARED_MEMORY,
  '/dev/shm',
]
