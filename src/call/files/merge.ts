import { readPath } from './path.ts'
import { changedMeanwhile } from './problems.ts'
import { EMPTY_FOLDER, find, withEntry } from './tree.ts'
import type { Base, FolderNode, Node } from './tree.ts'

type Found = Node | null | undefined

/** A tree on top of what others did to the same one meanwhile. Throws CONFLICT where both changed the same. */
export function merge(
  before: FolderNode,
  mine: FolderNode,
  theirs: FolderNode,
  path = '',
): FolderNode {
  if (theirs === before) return mine
  let merged = theirs
  for (const name of new Set(
    [...before.entries.entries(), ...mine.entries.entries()].map(([key]) => key),
  )) {
    const [was, own, other] = [
      before.entries.get(name),
      mine.entries.get(name),
      theirs.entries.get(name),
    ]
    if (own === was) continue
    const joined = other === was ? own : join(was, own, other, `${path}${name}`)
    merged = withEntry(merged, name, joined)
  }
  return merged
}

/** Throws CONFLICT where something is not as it was that a call looked at. */
export function checkLooked(
  looked: ReadonlySet<string>,
  before: FolderNode,
  now: FolderNode,
  base: Base,
): void {
  if (before === now) return
  for (const path of looked)
    if (!isSame(findSafely(before, path, base), findSafely(now, path, base)))
      throw changedMeanwhile(path)
}

// Both may have made the same folder, or changed something in one of the base.
function join(was: Found, own: Found, other: Found, path: string): FolderNode {
  // Who put another folder there has moved or removed the one that others work in.
  const isReplaced = isFolder(was) && isFolder(own) && was.mark !== own.mark
  if (!isReplaced && isFolder(own) && isFolder(other) && own.origin === other.origin) {
    const before =
      was ?? (own.origin === undefined ? EMPTY_FOLDER : { ...EMPTY_FOLDER, origin: own.origin })
    if (isFolder(before) && before.origin === own.origin)
      return merge(before, own, other, `${path}/`)
  }
  throw changedMeanwhile(path)
}

function isFolder(node: Found): node is FolderNode {
  return node?.kind === 'folder'
}

// What others put into a folder does not make it another. Files of the base are found anew each time.
function isSame(left: Node | undefined, right: Node | undefined): boolean {
  return (
    left === right ||
    (left?.kind === right?.kind &&
      left?.origin === right?.origin &&
      (left?.kind === 'folder' || left?.origin !== undefined))
  )
}

function findSafely(root: FolderNode, path: string, base: Base): Node | undefined {
  try {
    return find(root, readPath(path), base)
  } catch {
    return undefined
  }
}
