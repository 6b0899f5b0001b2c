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
import {
  containsHomeFolder,
  isKernelPath,
  openFolderChain,
  toDescriptorPath,
} from '../process/safe-paths.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isPathInside, resolveRealPath } from '../util/files.ts'
import { listWords } from '../util/text.ts'
import { MEBIBYTE } from '../util/units.ts'
import { once } from '../util/values.ts'
import { bindDevices, STREAM_LINKS } from './bubblewrap.ts'
import type { SandboxUser } from './requirements.ts'
import { hasFileMode } from './requirements.ts'

/**
 * A file or folder in the sandbox. `isHidden`: it is shown empty. `isPinned`: it is visible anyway,
 * and mounted so that the tool cannot move it.
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

/**
 * Lists what a tool sees besides the system, outer folders first. `parts` is what its program needs.
 * Throws for paths that no tool may have.
 */
export function listMounts(
  { grants, workspace, readable, hidden = [] }: ToolProfile,
  parts: readonly string[],
): SandboxMount[] {
  const outside = (grant: PathGrant): boolean => !isPathInside(workspace, grant.path)
  const requests: MountRequest[] = [
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
  const mounts: SandboxMount[] = []
  // The sort is stable: the first of two requests for the same path wins.
  for (const request of requests.sort((left, right) => left.path.length - right.path.length)) {
    const { path, isWritable, why } = request
    const outer = mounts.findLast((mount) => isPathInside(mount.path, path))
    if (isRedundantMount(request, outer)) continue
    const source = resolveRealPath(path)
    checkMountRequest(request, source)
    if (source === undefined) continue
    if (outer?.isWritable) mounts.push(...pinFoldersBetween(outer, path))
    mounts.push({ path, source, isWritable, isHidden: why === 'hidden' })
  }
  return mounts
}

// A tool that may write to a folder can replace the folders in it, except for mount points.
function pinFoldersBetween(outer: SandboxMount, path: string): SandboxMount[] {
  const folders: SandboxMount[] = []
  for (let folder = dirname(path); folder !== outer.path; folder = dirname(folder)) {
    if (resolveRealPath(folder) !== folder) continue
    const mount = { path: folder, source: folder, isWritable: true, isHidden: false } as const
    folders.unshift({ ...mount, isPinned: true })
  }
  return folders
}

// A path inside a mount needs no mount, unless it is to be less accessible than that mount.
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
  if (!isAbsolute(path) || path === '/' || isKernelPath(path))
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
  // It was no link when the manifest was read.
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

/** Creates the missing paths that a tool may write. Call the result to remove those that stayed empty. */
export function createGrantedPaths(
  { grants, workspace }: ToolProfile,
  who: SandboxUser,
): () => void {
  const made = grants.write.flatMap((grant) => {
    // Folders that tools may write can contain links, which are not followed.
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
  // It had no links when the manifest was read.
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

// Outer paths first.
function listPathsBetween(above: string, path: string): string[] {
  return path === above ? [] : [...listPathsBetween(above, dirname(path)), path]
}

function createInsideGrant(outer: string, path: string, who: SandboxUser): CreatedPath[] {
  try {
    closeSync(openFolderChain(outer, path, (step) => createFolder(step, who)))
  } catch {
    // The tool itself put something else there.
  }
  return []
}

function createFolder(path: string, owner: SandboxUser | undefined): void {
  mkdirSync(path)
  if (owner?.isDropped) lchownSync(path, owner.uid, owner.gid)
}

function createFile(path: string, { uid, gid, isDropped }: SandboxUser): void {
  const file = openSync(path, 'wx')
  // By its descriptor, because the name may be a link by now.
  if (isDropped) fchownSync(file, uid, gid)
  closeSync(file)
}

/** Makes the user of the tool the owner of the workspace when root starts it. Follows no link. */
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

/** Throws PERMISSION for mounts that the user of the tool cannot access. */
export function checkMountAccess(mounts: readonly SandboxMount[], who: SandboxUser): void {
  if (!who.isDropped) return
  for (const { path, source, isWritable, isHidden, isPinned } of mounts) {
    if (isHidden || isPinned) continue
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
    // It has content now.
  }
}

/** Folders of the system; some are links into /usr. Every mount costs time, so only these. */
const SYSTEM_FOLDERS = listWords(`
  /usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /etc/alternatives /etc/ssl/certs
  /etc/pki/tls/certs /etc/pki/ca-trust /etc/crypto-policies`)

/** The files of /etc that programs need. They are copied, which is cheaper than a mount. */
const SYSTEM_FILES = listWords(
  '/etc/ld.so.cache /etc/ssl/openssl.cnf /etc/localtime /etc/services /etc/protocols',
)
const NETWORK_FILES = listWords('/etc/hosts /etc/resolv.conf /etc/host.conf /etc/gai.conf')
const MAX_SYSTEM_FILE_BYTES = 4 * MEBIBYTE

/** The folder of shared memory, a part of the temporary folder. */
export const SHARED_MEMORY_FOLDER = '/tmp/.shared'

/** True for a path in a folder of the system, which every tool sees. */
export const isSystemPath = (path: string): boolean =>
  SYSTEM_FOLDERS.some((folder) => isPathInside(folder, path))

/** Arguments that mount the programs and libraries of the system, read-only. */
export const listSystemMounts = once((): readonly string[] =>
  SYSTEM_FOLDERS.flatMap((folder) => {
    try {
      return lstatSync(folder).isSymbolicLink()
        ? ['--symlink', readlinkSync(folder), folder]
        : ['--ro-bind', folder, folder]
    } catch {
      return []
    }
  }),
)

const systemFileCache = new Map<
  string,
  { readonly changed: number; readonly content: string | undefined }
>()

/** Reads the system files that programs need; those of the network only if there is one. */
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

/** Devices without content. Shared memory is a part of the temporary folder. */
export const DEVICE_MOUNTS: readonly string[] = [
  ...bindDevices('null zero urandom'),
  ...listWords('--symlink urandom /dev/random'),
  ...STREAM_LINKS,
  ...listWords(`--symlink ${SHARED_MEMORY_FOLDER} /dev/shm`),
]

/** A file that exists only in the sandbox. */
type SandboxFile = { readonly path: string; readonly content: string; readonly encoding?: 'latin1' }

/** The home folder in the sandbox. */
export const SANDBOX_HOME = '/tmp/home'

/**
 * Generates the files that describe users and host names: there is only the tool, and this machine.
 * Without `hosts`, names are resolved as on the real machine.
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
