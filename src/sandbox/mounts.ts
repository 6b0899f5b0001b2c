/**
 * Which files and folders a tool sees: the system, its grants, its workspace and generated files in
 * /etc. Granted paths that do not exist yet are created first.
 */

import {
  closeSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { ToolProfile } from '../process/child.ts'
import type { PathGrant } from '../process/grants.ts'
import { containsHomeFolder, openFolderChain, toDescriptorPath } from '../process/safe-paths.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { SandboxUser } from './requirements.ts'
import { hasFileMode } from './requirements.ts'

/**
 * A file or folder that a tool sees: under which path, what it really is, whether it may write
 * there, and whether it only sees that it is there. `isPinned`: it was given already, and only
 * stays where it is.
 */
export type SandboxMount = {
  readonly path: string
  readonly source: string
  readonly isWritable: boolean
  readonly isHidden: boolean
  readonly isPinned?: true
}

type MountRequest = {
  readonly path: string
  readonly isWritable: boolean
  readonly why: 'hidden' | 'grant' | 'shown' | 'program'
  readonly tree?: boolean
}

/** Places that the sandbox makes itself. */
const SANDBOX_OWNED_PATHS = ['/proc', '/dev', '/sys']

/**
 * Everything of this machine that a tool sees besides the system, outer places first. `parts` is
 * what its program needs. Throws where a place cannot be given to it.
 */
export function listMounts(
  { grants, workspace, readable, hidden = [] }: ToolProfile,
  parts: readonly string[],
): SandboxMount[] {
  const outside = (grant: PathGrant): boolean => !isPathInside(workspace, grant.path)
  const wishes: MountRequest[] = [
    ...hidden.map((path): MountRequest => ({ path, isWritable: false, why: 'hidden' })),
    ...grants.write
      .filter(outside)
      .map(({ path, tree }): MountRequest => ({ path, tree, isWritable: true, why: 'grant' })),
    { path: workspace, isWritable: true, why: 'shown' },
    ...readable.map((path): MountRequest => ({ path, isWritable: false, why: 'shown' })),
    ...grants.read
      .filter(outside)
      .map(({ path, tree }): MountRequest => ({ path, tree, isWritable: false, why: 'grant' })),
    ...parts
      .filter((path) => !isSystemPath(path) && !containsHomeFolder(path))
      .map((path): MountRequest => ({ path, isWritable: false, why: 'program' })),
  ]
  const places: SandboxMount[] = []
  // The order of the wishes decides where two of them name the same place.
  for (const wish of [...wishes].sort((left, right) => left.path.length - right.path.length)) {
    const outer = places.findLast((place) => isPathInside(place.path, wish.path))
    if (isRedundantMount(wish, outer)) continue
    const source = resolveRealPath(wish.path)
    checkMountRequest(wish, source)
    if (source === undefined) continue
    if (outer?.isWritable) places.push(...pinFoldersBetween(outer, wish.path))
    places.push({
      path: wish.path,
      source,
      isWritable: wish.isWritable,
      isHidden: wish.why === 'hidden',
    })
  }
  return places
}

// Who may write to a folder may move what is in it, and put something else where the runner will
// look; only what is mounted itself cannot be moved.
function pinFoldersBetween(outer: SandboxMount, path: string): SandboxMount[] {
  const folders: SandboxMount[] = []
  for (let folder = dirname(path); folder !== outer.path; folder = dirname(folder)) {
    if (resolveRealPath(folder) === folder)
      folders.unshift({
        path: folder,
        source: folder,
        isWritable: true,
        isHidden: false,
        isPinned: true,
      })
  }
  return folders
}

// What lies in a place that is seen already needs nothing, unless it is less free than that place
// on purpose.
function isRedundantMount(
  { path, isWritable, why }: MountRequest,
  outer: SandboxMount | undefined,
): boolean {
  if (outer === undefined) return why === 'hidden' || (!isWritable && isSystemPath(path))
  if (outer.isHidden) return why !== 'shown'
  if (why === 'hidden') return false
  return (
    outer.isWritable === isWritable || outer.path === path || (outer.isWritable && why !== 'shown')
  )
}

function checkMountRequest({ path, why, tree }: MountRequest, source: string | undefined): void {
  if (
    !isAbsolute(path) ||
    path === '/' ||
    SANDBOX_OWNED_PATHS.some((made) => isPathInside(made, path))
  )
    throw new ToolError('PERMISSION', `${path} cannot be given to a tool`, {
      suggestion: 'Name the folder that the tool needs, and nothing above it',
    })
  if (source === undefined) {
    if (why === 'shown')
      throw new ToolError(
        'INVALID_PATH',
        `${path}: there is no such file or folder to show to the tool`,
        { suggestion: `mkdir -p ${path}` },
      )
    return
  }
  if (why !== 'grant') return
  // It was none when the manifest was read: somebody who may write there put it in place.
  if (source !== path)
    throw new ToolError(
      'PERMISSION',
      `${path} is granted to the tool, but it is a link to ${source}`,
      { suggestion: `Grant ${source} instead, or remove the link` },
    )
  if (tree === false && statSync(source).isDirectory())
    throw new ToolError('CONFIG', `${path} is granted to the tool as a file, but it is a folder`, {
      suggestion: `Write ${path}/** in the manifest to grant what lies in it`,
    })
}

/**
 * Makes the places that a tool may write to and that are not there yet; gives a function that takes
 * away again what stayed empty.
 */
export function createGrantedPaths(
  { grants, workspace }: ToolProfile,
  who: SandboxUser,
): () => void {
  const made = grants.write.flatMap((grant) => {
    // What others may write to may hold their links; nothing is followed there.
    const outer = [
      workspace,
      ...grants.write.flatMap((other) => (other !== grant && other.tree ? [other.path] : [])),
    ].find((path) => path !== grant.path && isPathInside(path, grant.path))
    if (outer === undefined) return createGrantedPath(grant, who)
    return grant.tree ? createInsideGrant(outer, grant.path, who) : []
  })
  return () => {
    for (const { path, isFolder } of made.reverse()) removeIfEmpty(path, isFolder)
  }
}

type CreatedPath = { readonly path: string; readonly isFolder: boolean }

function createGrantedPath({ path, tree }: PathGrant, who: SandboxUser): CreatedPath[] {
  if (existsAt(path)) return []
  let above = dirname(path)
  while (!existsAt(above)) above = dirname(above)
  // It was none when the manifest was read.
  if (resolveRealPath(above) !== above)
    throw new ToolError(
      'PERMISSION',
      `${path} is granted to the tool, but the way there leads through a link`,
      { suggestion: `Grant ${resolveRealPath(above) ?? 'the place'} instead, or remove the link` },
    )
  try {
    const folder = tree
      ? openFolderChain('/', path, (step, isLast) => createFolder(step, isLast ? who : undefined))
      : openFolderChain('/', dirname(path))
    try {
      if (!tree) createFile(toDescriptorPath(folder, basename(path)), who)
    } finally {
      closeSync(folder)
    }
    return listPathsBetween(above, path).map((made) => ({
      path: made,
      isFolder: tree || made !== path,
    }))
  } catch (error) {
    throw new ToolError(
      'PERMISSION',
      `${path} is granted to the tool, but it cannot be made: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
      { suggestion: `mkdir -p ${tree ? path : dirname(path)}`, cause: error },
    )
  }
}

// Outer ones first.
function listPathsBetween(above: string, path: string): string[] {
  return path === above ? [] : [...listPathsBetween(above, dirname(path)), path]
}

function createInsideGrant(outer: string, path: string, who: SandboxUser): CreatedPath[] {
  try {
    closeSync(openFolderChain(outer, path, (step) => createFolder(step, who)))
  } catch {
    // Something else is in its place, which the tool put there itself.
  }
  return []
}

function createFolder(path: string, owner: SandboxUser | undefined): void {
  mkdirSync(path)
  if (owner?.isDropped) lchownSync(path, owner.uid, owner.gid)
}

function createFile(path: string, { uid, gid, isDropped }: SandboxUser): void {
  const file = openSync(path, 'wx')
  // By its descriptor: its name may be a link by now.
  if (isDropped) fchownSync(file, uid, gid)
  closeSync(file)
}

/**
 * Gives the workspace to the user that the tool is, where root starts it. Nothing is followed.
 * Throws where the disk does not allow it.
 */
export function chownWorkspace(workspace: string, { uid, gid, isDropped }: SandboxUser): void {
  if (!isDropped) return
  const visit = (path: string): void => {
    const found = lstatSync(path)
    if (found.uid !== uid || found.gid !== gid) lchownSync(path, uid, gid)
    if (found.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name))
  }
  try {
    visit(workspace)
  } catch (error) {
    throw new ToolError(
      'SANDBOX_UNAVAILABLE',
      `The workspace ${workspace} cannot be given to user ${uid}, who tools are when root starts them: ${(error as Error).message}`,
      {
        suggestion: 'Start it as an ordinary user, or put the runs on a disk of this machine',
        cause: error,
      },
    )
  }
}

/**
 * Throws where somebody is granted a place that he cannot use, because he is not the one who
 * granted it.
 */
export function checkMountAccess(places: readonly SandboxMount[], who: SandboxUser): void {
  for (const { path, source, isWritable } of who.isDropped
    ? places.filter(({ isHidden, isPinned }) => !isHidden && !isPinned)
    : []) {
    const wanted = (statSync(source).isDirectory() ? 5 : 4) | (isWritable ? 2 : 0)
    if (hasFileMode(source, who, wanted)) continue
    throw new ToolError(
      'PERMISSION',
      `${path} cannot be ${isWritable ? 'written' : 'read'} by user ${who.uid}, who tools are when root starts them`,
      { suggestion: isWritable ? `chown -R ${who.uid} ${path}` : `chmod -R o+rX ${path}` },
    )
  }
}

function existsAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function removeIfEmpty(path: string, isFolder: boolean): void {
  try {
    if (isFolder) rmdirSync(path)
    else if (lstatSync(path).size === 0) unlinkSync(path)
  } catch {
    // It holds something now.
  }
}

/**
 * Folders of the system, which differ between systems in whether they are folders or links into
 * /usr. Every mount costs time, so that there are no more than programs need.
 */
const SYSTEM_FOLDERS = [
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

/**
 * The few files of /etc that programs cannot do without: where libraries lie, how certificates are
 * read, the time zone, and names of ports. They are copied, which is cheaper than a mount.
 */
const SYSTEM_FILES = [
  '/etc/ld.so.cache',
  '/etc/ssl/openssl.cnf',
  '/etc/localtime',
  '/etc/services',
  '/etc/protocols',
]
const NETWORK_FILES = ['/etc/hosts', '/etc/resolv.conf', '/etc/host.conf', '/etc/gai.conf']
const MAX_SYSTEM_FILE_BYTES = 4 * MEBIBYTE

/** Where memory is shared, a part of the temporary folder. */
export const SHARED_MEMORY_FOLDER = '/tmp/.shared'

/** Places of the system that every tool sees, so that nobody has to show them again. */
export const isSystemPath = (path: string): boolean =>
  SYSTEM_FOLDERS.some((folder) => path === folder || path.startsWith(`${folder}/`))

let systemFolderArguments: readonly string[] | undefined

/** The system without anything of its users: its programs, read-only. */
export function listSystemMounts(): readonly string[] {
  systemFolderArguments ??= SYSTEM_FOLDERS.flatMap((folder) => {
    try {
      return lstatSync(folder).isSymbolicLink()
        ? ['--symlink', readlinkSync(folder), folder]
        : ['--ro-bind', folder, folder]
    } catch {
      return []
    }
  })
  return systemFolderArguments
}

const systemFileCache = new Map<
  string,
  { readonly changed: number; readonly content: string | undefined }
>()

/**
 * The settings that programs read, as they are now; those of the network only where there is one.
 */
export function readSystemFiles(hasNetwork: boolean): SandboxFile[] {
  return [...SYSTEM_FILES, ...(hasNetwork ? NETWORK_FILES : [])].flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found?.isFile() || found.size > MAX_SYSTEM_FILE_BYTES) return []
    const last = systemFileCache.get(path)
    const content = last?.changed === found.mtimeMs ? last.content : readSystemFile(path)
    systemFileCache.set(path, { changed: found.mtimeMs, content })
    return content === undefined ? [] : [{ path, content, encoding: 'latin1' as const }]
  })
}

function readSystemFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}

/**
 * Devices that hold nothing. Whoever makes this folder with `--dev` gets unlimited shared memory
 * and a second user namespace besides.
 */
export const DEVICE_MOUNTS: readonly string[] = [
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
  SHARED_MEMORY_FOLDER,
  '/dev/shm',
]

/** A file that exists only in the sandbox. */
type SandboxFile = { readonly path: string; readonly content: string; readonly encoding?: 'latin1' }

/** Where programs look for the home of the tool. */
export const SANDBOX_HOME = '/tmp/home'

/**
 * What a tool is told about users and names: there is only itself, and this machine. `hosts` is
 * absent where the names of the real machine count.
 */
export function generateIdentityFiles(
  { uid, gid }: SandboxUser,
  hosts: string | undefined,
): SandboxFile[] {
  return [
    {
      path: '/etc/passwd',
      content: `root:x:0:0:root:/:/bin/sh\ntool:x:${uid}:${gid}:tool:${SANDBOX_HOME}:/bin/sh\n`,
    },
    { path: '/etc/group', content: `root:x:0:\ntool:x:${gid}:\n` },
    {
      path: '/etc/nsswitch.conf',
      content: `passwd: files\ngroup: files\nhosts: files${hosts === undefined ? ' dns' : ''}\nservices: files\nprotocols: files\n`,
    },
    ...(hosts === undefined ? [] : [{ path: '/etc/hosts', content: hosts }]),
  ]
}
