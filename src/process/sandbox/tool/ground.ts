import { lstatSync, readlinkSync } from 'node:fs'

/** Folders of the system, which differ between systems in whether they are folders or links into /usr. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/nix/store', '/etc/alternatives']

/** The few files of /etc that programs cannot do without: where libraries and certificates lie, what links of alternatives mean, the time zone, and names of types and ports. */
const SETTINGS = [
  'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'ssl/certs', 'ssl/openssl.cnf', 'pki/tls', 'pki/ca-trust', 'ca-certificates', 'crypto-policies',
  'localtime', 'timezone', 'mime.types', 'services', 'protocols', 'terminfo', 'magic',
]
const FOR_NETWORK = ['hosts', 'resolv.conf', 'host.conf', 'gai.conf']
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom']

/** Places of the system that every tool sees, so that nobody has to show them again. */
export const isOfSystem = (path: string): boolean => SYSTEM.some((folder) => path === folder || path.startsWith(`${folder}/`))

let known: readonly string[] | undefined

/** The system without anything of its users: its programs, read-only. */
export function systemFolders(): readonly string[] {
  known ??= SYSTEM.flatMap((folder) => {
    try {
      return lstatSync(folder).isSymbolicLink() ? ['--symlink', readlinkSync(folder), folder] : ['--ro-bind', folder, folder]
    } catch {
      return []
    }
  })
  return known
}

/** The settings that programs read; those of the network only where there is one. */
export function systemSettings(hasNetwork: boolean): string[] {
  return [...SETTINGS, ...(hasNetwork ? FOR_NETWORK : [])].flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`])
}

/** Devices that hold nothing. Whoever makes this folder with `--dev` gets unlimited shared memory and a second user namespace besides. */
export function devices(): string[] {
  return [
    ...DEVICES.flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
    ...['stdin', 'stdout', 'stderr'].flatMap((name, descriptor) => ['--symlink', `/proc/self/fd/${descriptor}`, `/dev/${name}`]),
    '--symlink', '/proc/self/fd', '/dev/fd',
  ]
}
