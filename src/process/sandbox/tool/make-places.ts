import {
  closeSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import type { PlaceGrant } from '../../permissions/grants.ts'
import { inside, openFolders } from '../../open-folders.ts'
import { contains, realPath } from '../paths.ts'
import type { ToolProfile } from '../profile.ts'
import type { Identity } from './identity.ts'
import { allows } from './identity.ts'
import type { Place } from './places.ts'

/** Makes the places that a tool may write to and that are not there yet; gives a function that takes away again what stayed empty. */
export function makePlaces({ grants, workspace }: ToolProfile, who: Identity): () => void {
  const made = grants.write.flatMap((grant) => {
    // What others may write to may hold their links; nothing is followed there.
    const outer = [
      workspace,
      ...grants.write.flatMap((other) => (other !== grant && other.tree ? [other.path] : [])),
    ].find((path) => path !== grant.path && contains(path, grant.path))
    return outer === undefined
      ? makeAlone(grant, who)
      : grant.tree
        ? makeInside(outer, grant.path, who)
        : []
  })
  return () => {
    for (const { path, isFolder } of made.reverse()) removeEmpty(path, isFolder)
  }
}

type Made = { readonly path: string; readonly isFolder: boolean }

function makeAlone({ path, tree }: PlaceGrant, who: Identity): Made[] {
  if (isThere(path)) return []
  let above = dirname(path)
  while (!isThere(above)) above = dirname(above)
  // It was none when the manifest was read.
  if (realPath(above) !== above)
    throw new ToolError(
      'PERMISSION',
      `${path} is granted to the tool, but the way there leads through a link`,
      { suggestion: `Grant ${realPath(above) ?? 'the place'} instead, or remove the link` },
    )
  try {
    const folder = tree
      ? openFolders('/', path, (step, isLast) => makeFolder(step, isLast ? who : undefined))
      : openFolders('/', dirname(path))
    try {
      if (!tree) makeFile(inside(folder, basename(path)), who)
    } finally {
      closeSync(folder)
    }
    return between(above, path).map((made) => ({ path: made, isFolder: tree || made !== path }))
  } catch (error) {
    throw new ToolError(
      'PERMISSION',
      `${path} is granted to the tool, but it cannot be made: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
      { suggestion: `mkdir -p ${tree ? path : dirname(path)}`, cause: error },
    )
  }
}

// Outer ones first.
function between(above: string, path: string): string[] {
  return path === above ? [] : [...between(above, dirname(path)), path]
}

function makeInside(outer: string, path: string, who: Identity): Made[] {
  try {
    closeSync(openFolders(outer, path, (step) => makeFolder(step, who)))
  } catch {
    // Something else is in its place, which the tool put there itself.
  }
  return []
}

function makeFolder(path: string, owner: Identity | undefined): void {
  mkdirSync(path)
  if (owner?.isDropped) lchownSync(path, owner.uid, owner.gid)
}

function makeFile(path: string, { uid, gid, isDropped }: Identity): void {
  const file = openSync(path, 'wx')
  // By its descriptor: its name may be a link by now.
  if (isDropped) fchownSync(file, uid, gid)
  closeSync(file)
}

/** Gives the workspace to the user that the tool is, where root starts it. Nothing is followed. Throws where the disk does not allow it. */
export function handOver(workspace: string, { uid, gid, isDropped }: Identity): void {
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

/** Throws where somebody is granted a place that he cannot use, because he is not the one who granted it. */
export function checkUse(places: readonly Place[], who: Identity): void {
  for (const { path, source, isWritable } of who.isDropped
    ? places.filter(({ isHidden, isPinned }) => !isHidden && !isPinned)
    : []) {
    const wanted = (statSync(source).isDirectory() ? 5 : 4) | (isWritable ? 2 : 0)
    if (allows(source, who, wanted)) continue
    throw new ToolError(
      'PERMISSION',
      `${path} cannot be ${isWritable ? 'written' : 'read'} by user ${who.uid}, who tools are when root starts them`,
      { suggestion: isWritable ? `chown -R ${who.uid} ${path}` : `chmod -R o+rX ${path}` },
    )
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function removeEmpty(path: string, isFolder: boolean): void {
  try {
    if (isFolder) rmdirSync(path)
    else if (lstatSync(path).size === 0) unlinkSync(path)
  } catch {
    // It holds something now.
  }
}
