import { NameMap } from './name-map.ts'
import { otherKind } from './problems.ts'
import { pathOf } from './path.ts'

/** What a file keeps when its content is replaced. */
export type Traits = { readonly mode: number; readonly uid: number; readonly gid: number }

/** A content that a call wrote: the first `size` bytes that its node says, because what is appended later may lie behind them. */
export type Blob = { readonly id: number }

/** A file of the base, by its path there, or one that a call wrote. */
export type FileNode = {
  readonly kind: 'file'
  readonly size: number
  readonly traits?: Traits
} & (
  | { readonly origin: string; readonly blob?: never }
  | { readonly blob: Blob; readonly origin?: never }
)

/** A folder. With an origin, everything of that folder of the base is in it that `entries` does not name; null stands for what is gone. */
export type FolderNode = {
  readonly kind: 'folder'
  readonly origin?: string
  readonly entries: NameMap<Node | null>
  /** The bytes of all that `entries` holds. */ readonly weight: number
  /** Tells a folder that a call made from another one at the same path. */ readonly mark?: object
}
export type Node = FileNode | FolderNode

/** What lies below a tree and does not change: the files of a folder on disk. Paths are made of names that were checked. */
export type Base = {
  /** The folder that it lies in was looked at before. Throws INVALID_PATH for what is neither file nor folder. */
  look(path: string): Node | undefined
  /** Files and folders directly in a folder, and the names of other things there. */
  list(path: string): {
    readonly nodes: readonly (readonly [name: string, node: Node])[]
    readonly others: readonly string[]
  }
}

/** A base with nothing in it. */
export const NO_BASE: Base = { look: () => undefined, list: () => ({ nodes: [], others: [] }) }

/** A folder with nothing in it. */
export const EMPTY_FOLDER: FolderNode = { kind: 'folder', entries: NameMap.empty(), weight: 0 }

// A million empty files have a weight too.
const WEIGHT_OF_AN_ENTRY = 256

/** What lies at a path; undefined where nothing does. Throws CONFLICT where the way leads through a file. */
export function find(root: FolderNode, names: readonly string[], base: Base): Node | undefined {
  let node: Node = root
  for (const [index, name] of names.entries()) {
    if (node.kind === 'file')
      throw otherKind(
        pathOf(names.slice(0, index)),
        'is a file, not a folder',
        'Choose a path that does not lead through a file',
      )
    const next = child(node, name, base)
    if (!next) return undefined
    node = next
  }
  return node
}

/** Another tree in which this lies at a path; null takes away what is there. All folders on the way have to be there. */
export function place(
  folder: FolderNode,
  names: readonly string[],
  node: Node | null,
  base: Base,
): FolderNode {
  const [name, ...rest] = names as [string, ...string[]]
  if (rest.length > 0)
    return withEntry(folder, name, place(child(folder, name, base) as FolderNode, rest, node, base))
  return withEntry(folder, name, node === null && folder.origin === undefined ? undefined : node)
}

/** The same folder with this under a name, or with nothing that has the name. */
export function withEntry(
  folder: FolderNode,
  name: string,
  node: Node | null | undefined,
): FolderNode {
  const { entries, weight } = folder
  return {
    ...folder,
    entries: node === undefined ? entries.without(name) : entries.with(name, node),
    weight: weight - weightOf(entries.get(name)) + weightOf(node),
  }
}

/** Another tree in which there are folders all the way. Throws CONFLICT where a file is in the way. */
export function withFolders(root: FolderNode, names: readonly string[], base: Base): FolderNode {
  let folder = root
  for (const [index, name] of names.entries()) {
    const next = child(folder, name, base)
    if (next?.kind === 'file')
      throw otherKind(
        pathOf(names.slice(0, index + 1)),
        'is a file, not a folder',
        'Remove the file first, or choose another path',
      )
    if (!next) {
      const fresh = names
        .slice(index + 1)
        .reduceRight((inner, inside) => withEntry(newFolder(), inside, inner), newFolder())
      return place(root, names.slice(0, index + 1), fresh, base)
    }
    folder = next
  }
  return root
}

/** What lies directly in a folder, by name, and other things of the base that are neither file nor folder. */
export function children(
  folder: FolderNode,
  base: Base,
): {
  readonly nodes: readonly (readonly [name: string, node: Node])[]
  readonly others: readonly string[]
} {
  const own = folder.entries
    .entries()
    .filter((entry): entry is readonly [string, Node] => entry[1] !== null)
  if (folder.origin === undefined) return { nodes: own, others: [] }
  const { nodes, others } = base.list(folder.origin)
  const rest = nodes.filter(([name]) => !folder.entries.has(name))
  return {
    nodes: [...own, ...rest].sort(([left], [right]) => (left < right ? -1 : 1)),
    others: others.filter((name) => !folder.entries.has(name)),
  }
}

function child(folder: FolderNode, name: string, base: Base): Node | undefined {
  const own = folder.entries.get(name)
  if (own !== undefined) return own ?? undefined
  return folder.origin === undefined
    ? undefined
    : base.look(folder.origin === '' ? name : `${folder.origin}/${name}`)
}

function newFolder(): FolderNode {
  return { ...EMPTY_FOLDER, mark: {} }
}

function weightOf(node: Node | null | undefined): number {
  return node ? WEIGHT_OF_AN_ENTRY + (node.kind === 'file' ? node.size : node.weight) : 0
}
