/**
 * The files of a call as an immutable tree: paths, nodes, merging with what other calls committed,
 * and the errors about them.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { PersistentMap } from '../../util/persistent-map.ts'
import { shorten } from '../../util/text.ts'

/** What a file keeps when its content is replaced. */
export type FileTraits = { readonly mode: number; readonly uid: number; readonly gid: number }

/**
 * A content that a call wrote: the first `size` bytes that its node says, because what is appended
 * later may lie behind them.
 */
export type FileBlob = { readonly id: number }

/** A file of the base, by its path there, or one that a call wrote. */
export type FileNode = {
  readonly kind: 'file'
  readonly size: number
  readonly traits?: FileTraits
} & (
  | { readonly origin: string; readonly blob?: never }
  | { readonly blob: FileBlob; readonly origin?: never }
)

/**
 * A folder. With an origin, everything of that folder of the base is in it that `entries` does not
 * name; null stands for what is gone.
 */
export type FolderNode = {
  readonly kind: 'folder'
  readonly origin?: string
  readonly entries: PersistentMap<TreeNode | null>
  /** The bytes of all that `entries` holds. */ readonly weight: number
  /** Tells a folder that a call made from another one at the same path. */ readonly mark?: object
}
export type TreeNode = FileNode | FolderNode

/**
 * What lies below a tree and does not change: the files of a folder on disk. Paths are made of
 * names that were checked.
 */
export type TreeBase = {
  /**
   * The folder that it lies in was looked at before. Throws INVALID_PATH for what is neither file
   * nor folder.
   */
  look(path: string): TreeNode | undefined
  /** Files and folders directly in a folder, and the names of other things there. */
  list(path: string): {
    readonly nodes: readonly (readonly [name: string, node: TreeNode])[]
    readonly others: readonly string[]
  }
}

/** A base with nothing in it. */
export const EMPTY_BASE: TreeBase = {
  look: () => undefined,
  list: () => ({ nodes: [], others: [] }),
}

/** A folder with nothing in it. */
export const EMPTY_FOLDER: FolderNode = {
  kind: 'folder',
  entries: PersistentMap.empty(),
  weight: 0,
}

// A million empty files have a weight too.
const ENTRY_WEIGHT_BYTES = 256

/**
 * What lies at a path; undefined where nothing does. Throws CONFLICT where the way leads through a
 * file.
 */
export function findNode(
  root: FolderNode,
  names: readonly string[],
  base: TreeBase,
): TreeNode | undefined {
  let node: TreeNode = root
  for (const [index, name] of names.entries()) {
    if (node.kind === 'file')
      throw createWrongKindError(
        joinPath(names.slice(0, index)),
        'is a file, not a folder',
        'Choose a path that does not lead through a file',
      )
    const next = getChild(node, name, base)
    if (!next) return undefined
    node = next
  }
  return node
}

/**
 * Another tree in which this lies at a path; null takes away what is there. All folders on the way
 * have to be there.
 */
export function placeNode(
  folder: FolderNode,
  names: readonly string[],
  node: TreeNode | null,
  base: TreeBase,
): FolderNode {
  const [name, ...rest] = names as [string, ...string[]]
  if (rest.length > 0)
    return withEntry(
      folder,
      name,
      placeNode(getChild(folder, name, base) as FolderNode, rest, node, base),
    )
  return withEntry(folder, name, node === null && folder.origin === undefined ? undefined : node)
}

/** The same folder with this under a name, or with nothing that has the name. */
function withEntry(
  folder: FolderNode,
  name: string,
  node: TreeNode | null | undefined,
): FolderNode {
  const { entries, weight } = folder
  return {
    ...folder,
    entries: node === undefined ? entries.without(name) : entries.with(name, node),
    weight: weight - getWeight(entries.get(name)) + getWeight(node),
  }
}

/**
 * Another tree in which there are folders all the way. Throws CONFLICT where a file is in the way.
 */
export function ensureFolders(
  root: FolderNode,
  names: readonly string[],
  base: TreeBase,
): FolderNode {
  let folder = root
  for (const [index, name] of names.entries()) {
    const next = getChild(folder, name, base)
    if (next?.kind === 'file')
      throw createWrongKindError(
        joinPath(names.slice(0, index + 1)),
        'is a file, not a folder',
        'Remove the file first, or choose another path',
      )
    if (!next) {
      const fresh = names
        .slice(index + 1)
        .reduceRight(
          (inner, inside) => withEntry(createFolderNode(), inside, inner),
          createFolderNode(),
        )
      return placeNode(root, names.slice(0, index + 1), fresh, base)
    }
    folder = next
  }
  return root
}

/**
 * What lies directly in a folder, by name, and other things of the base that are neither file nor
 * folder.
 */
export function listChildren(
  folder: FolderNode,
  base: TreeBase,
): {
  readonly nodes: readonly (readonly [name: string, node: TreeNode])[]
  readonly others: readonly string[]
} {
  const own = folder.entries
    .entries()
    .filter((entry): entry is readonly [string, TreeNode] => entry[1] !== null)
  if (folder.origin === undefined) return { nodes: own, others: [] }
  const { nodes, others } = base.list(folder.origin)
  const rest = nodes.filter(([name]) => !folder.entries.has(name))
  return {
    nodes: [...own, ...rest].sort(([left], [right]) => (left < right ? -1 : 1)),
    others: others.filter((name) => !folder.entries.has(name)),
  }
}

function getChild(folder: FolderNode, name: string, base: TreeBase): TreeNode | undefined {
  const own = folder.entries.get(name)
  if (own !== undefined) return own ?? undefined
  return folder.origin === undefined
    ? undefined
    : base.look(folder.origin === '' ? name : `${folder.origin}/${name}`)
}

function createFolderNode(): FolderNode {
  return { ...EMPTY_FOLDER, mark: {} }
}

function getWeight(node: TreeNode | null | undefined): number {
  return node ? ENTRY_WEIGHT_BYTES + (node.kind === 'file' ? node.size : node.weight) : 0
}

/** Where contents are kept that calls write. */
export type BlobStorage = {
  create(bytes: Uint8Array): FileBlob
  /** A content of its own that begins like a file of the base. */
  copy(origin: string): { readonly blob: FileBlob; readonly size: number }
  /** Adds to a content behind its first `size` bytes. */
  grow(blob: FileBlob, size: number, bytes: Uint8Array): FileBlob
  /** Throws PERMISSION where a file of the base may not be written: replacing it would not ask. */
  checkWritable(origin: string): void
  read(file: FileNode, offset: number, length: number): Uint8Array
  /** Throws DISK_FULL where there is no room for all that is in a tree. */
  checkRoom(root: FolderNode): void
}

/**
 * The files as one call sees them: a tree that is replaced by each change, over a base that stays.
 */
export type CallFiles = {
  root: FolderNode
  readonly base: TreeBase
  readonly storage: BlobStorage
  readonly readOnly: boolean
  /** Paths that the call decided by: it is void when others changed them meanwhile. */
  readonly observed: Set<string>
  /** No word of a call that is over counts. */
  isOver: boolean
  /** The call that this one is part of. */
  readonly outer?: CallFiles
}

/** Whether a call is over, or one that it is part of. */
export function isCallOver(work: CallFiles): boolean {
  return work.isOver || (work.outer !== undefined && isCallOver(work.outer))
}

type FoundNode = TreeNode | null | undefined

/**
 * A tree on top of what others did to the same one meanwhile. Throws CONFLICT where both changed
 * the same.
 */
export function mergeTrees(
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
    const joined = other === was ? own : joinNodes(was, own, other, `${path}${name}`)
    merged = withEntry(merged, name, joined)
  }
  return merged
}

/** Throws CONFLICT where something is not as it was that a call looked at. */
export function checkObserved(
  looked: ReadonlySet<string>,
  before: FolderNode,
  now: FolderNode,
  base: TreeBase,
): void {
  if (before === now) return
  for (const path of looked)
    if (!isSameNode(findNodeOrUndefined(before, path, base), findNodeOrUndefined(now, path, base)))
      throw createConflictError(path)
}

// Both may have made the same folder, or changed something in one of the base.
function joinNodes(was: FoundNode, own: FoundNode, other: FoundNode, path: string): FolderNode {
  // Who put another folder there has moved or removed the one that others work in.
  const isReplaced = isFolderNode(was) && isFolderNode(own) && was.mark !== own.mark
  if (!isReplaced && isFolderNode(own) && isFolderNode(other) && own.origin === other.origin) {
    const before =
      was ?? (own.origin === undefined ? EMPTY_FOLDER : { ...EMPTY_FOLDER, origin: own.origin })
    if (isFolderNode(before) && before.origin === own.origin)
      return mergeTrees(before, own, other, `${path}/`)
  }
  throw createConflictError(path)
}

function isFolderNode(node: FoundNode): node is FolderNode {
  return node?.kind === 'folder'
}

// What others put into a folder does not make it another. Files of the base are found anew each
// time.
function isSameNode(left: TreeNode | undefined, right: TreeNode | undefined): boolean {
  return (
    left === right ||
    (left?.kind === right?.kind &&
      left?.origin === right?.origin &&
      (left?.kind === 'folder' || left?.origin !== undefined))
  )
}

function findNodeOrUndefined(root: FolderNode, path: string, base: TreeBase): TreeNode | undefined {
  try {
    return findNode(root, parsePath(path), base)
  } catch {
    return undefined
  }
}

/** Where the changes of calls wait for their commit; no path leads there. */
export const CHANGES_FOLDER = '.toolable-changes'

const MAX_PATH_LENGTH = 4_000
const MAX_NAME_BYTES = 255

/**
 * The names that a path goes through, none for the root itself. Throws INVALID_PATH for everything
 * that could mean a place outside, or no place at all.
 */
export function parsePath(path: unknown): readonly string[] {
  if (typeof path !== 'string') throw createInvalidPathError(String(path), 'a path is a text')
  if (path.length > MAX_PATH_LENGTH)
    throw createInvalidPathError(path, `a path has at most ${MAX_PATH_LENGTH} characters`)
  if (path.includes('\0')) throw createInvalidPathError(path, 'a path has no NUL characters')
  // Half of a pair would be written as another character, so that two paths meant one file.
  if (/\p{Surrogate}/u.test(path))
    throw createInvalidPathError(path, 'the path is no valid Unicode')
  if (/^[/\\]|^[A-Za-z]:[/\\]/.test(path))
    throw createInvalidPathError(path, 'absolute paths are refused', stripRoot(path))
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  for (const name of names) {
    if (name === '..') throw createInvalidPathError(path, "'..' is refused")
    if (Buffer.byteLength(name) > MAX_NAME_BYTES)
      throw createInvalidPathError(path, `a name has at most ${MAX_NAME_BYTES} bytes`)
  }
  if (names[0] !== undefined && isChangesFolder(names[0]))
    throw createInvalidPathError(path, `'${CHANGES_FOLDER}' belongs to calls that are going on`)
  return names
}

/**
 * Whether a name in the root means the place of changes on any file system, also on those that
 * ignore case or invisible characters.
 */
export function isChangesFolder(name: string): boolean {
  return (
    name.length >= CHANGES_FOLDER.length &&
    name
      .normalize('NFKC')
      .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
      .toLowerCase() === CHANGES_FOLDER
  )
}

/** The names as a path; `.` is the root. */
export function joinPath(names: readonly string[]): string {
  return names.length === 0 ? '.' : names.join('/')
}

/** A refusal of a path. */
export function createInvalidPathError(path: string, reason: string, instead?: string): ToolError {
  return new ToolError('INVALID_PATH', `'${shorten(path, 200)}': ${reason}`, {
    suggestion:
      instead === undefined
        ? "Give a path relative to the root, such as 'src/main.ts'"
        : { fix: `Use '${instead}'`, example: instead },
  })
}

function stripRoot(path: string): string | undefined {
  const rest = path.replace(/^[A-Za-z]:/, '').replace(/^[/\\]+/, '')
  return rest === '' ? '.' : undefined
}

const DISK_FULL_CODES: readonly string[] = ['ENOSPC', 'EDQUOT']
const FORBIDDEN_CODES: readonly string[] = ['EACCES', 'EPERM', 'EROFS']
const CONFLICT_CODES: readonly string[] = ['ENOENT', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'EISDIR']

/** Says that nothing lies at a path. */
export function createNotFoundError(path: string): ToolError {
  return new ToolError('NOT_FOUND', `there is no '${shorten(path, 200)}'`, {
    suggestion: 'List the folder to see what is there',
    details: { path },
  })
}

/** Says that something else lies at a path than is wanted. */
export function createWrongKindError(path: string, reason: string, fix: string): ToolError {
  return new ToolError('CONFLICT', `'${shorten(path, 200)}' ${reason}`, {
    suggestion: fix,
    details: { path },
  })
}

/** Says that somebody else changed what a call worked with. */
export function createConflictError(path: string, cause?: unknown): ToolError {
  return new ToolError(
    'CONFLICT',
    `'${shorten(path, 200)}' was changed by somebody else during the call; nothing of the call was kept`,
    {
      retryable: true,
      suggestion: 'Read it again, then repeat the call',
      details: { path },
      cause,
    },
  )
}

/** Does something on the disk; what the file system refuses is an error about the path. */
export function withDiskErrors<Value>(doing: string, path: string, act: () => Value): Value {
  try {
    return act()
  } catch (error) {
    throw toDiskError(error, doing, path)
  }
}

/** What the file system said, as an error of ours. */
export function toDiskError(error: unknown, doing: string, path: string): ToolError {
  if (ToolError.is(error)) return error
  const { code = 'error', message } = error as NodeJS.ErrnoException
  const text = `cannot ${doing} '${shorten(path, 200)}': ${code === 'error' ? message : code}`
  if (DISK_FULL_CODES.includes(code))
    return new ToolError('DISK_FULL', text, {
      cause: error,
      suggestion: 'Free space, then repeat the call',
    })
  if (FORBIDDEN_CODES.includes(code))
    return new ToolError('PERMISSION', text, {
      cause: error,
      suggestion: 'Give the user of this process the right to do that, or choose another path',
    })
  if (code === 'ENAMETOOLONG')
    return createInvalidPathError(path, 'the path is too long for the file system')
  if (code === 'ELOOP') return createInvalidPathError(path, 'links are not followed')
  if (code === 'EXDEV')
    return new ToolError('PRECONDITION', `${text}: it lies on another file system than the root`, {
      cause: error,
      suggestion: 'Keep the files of one call on one file system',
    })
  if (CONFLICT_CODES.includes(code)) return createConflictError(path, error)
  return new ToolError('INTERNAL', text, { cause: error })
}
