import { changedMeanwhile } from '../problems.ts'
import { EMPTY_FOLDER } from '../tree.ts'
import type { FolderNode, Node } from '../tree.ts'

/** The tree of a call on top of what others committed since it began. Throws CONFLICT where both changed the same. */
export function merge(before: FolderNode, mine: FolderNode, theirs: FolderNode, path = ''): FolderNode {
  if (theirs === before) return mine
  let { entries } = theirs
  for (const name of new Set([...before.entries.entries(), ...mine.entries.entries()].map(([key]) => key))) {
    const [was, own, other] = [before.entries.get(name), mine.entries.get(name), theirs.entries.get(name)]
    if (own === was) continue
    const joined = other === was ? own : join(was, own, other, `${path}${name}`)
    entries = joined ? entries.with(name, joined) : entries.without(name)
  }
  return { ...theirs, entries }
}

// Both may have made the same folder.
function join(was: Node | null | undefined, own: Node | null | undefined, other: Node | null | undefined, path: string): FolderNode {
  const before = was ?? EMPTY_FOLDER
  if (isFolder(before) && isFolder(own) && isFolder(other)) return merge(before, own, other, `${path}/`)
  throw changedMeanwhile(path)
}

function isFolder(node: Node | null | undefined): node is FolderNode {
  return node?.kind === 'folder'
}
