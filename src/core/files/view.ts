/**
 * The `Filesystem` of one call, and its part in the call's transaction.
 */

import type { FileEntry, Filesystem, TransactionPart } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { FileLimits, OpenedFile } from './read.ts'
import {
  findFiles,
  findLines,
  readFileBytes,
  readFileLines,
  readFileText,
  slicePage,
} from './read.ts'
import type { CallFiles, FileNode, FolderNode, TreeNode } from './tree.ts'
import {
  checkObserved,
  createInvalidPathError,
  createNotFoundError,
  createWrongKindError,
  ensureFolders,
  findNode,
  isCallOver,
  joinPath,
  listChildren,
  mergeTrees,
  parsePath,
  placeNode,
} from './tree.ts'

/**
 * The files of one call. Everything that changes happens at once, so that parallel steps of a
 * handler cannot meet halfway.
 */
function createFilesystemView(work: CallFiles, limits: FileLimits): Filesystem {
  const { base, storage } = work
  const begin = (path: string): readonly string[] => {
    if (isCallOver(work))
      throw new ToolError(
        'CANCELLED',
        `the call that '${shortenPath(path)}' was wanted for is over`,
        { suggestion: 'Wait for everything that a handler starts before it returns' },
      )
    return parsePath(path)
  }
  const change = (path: string): readonly string[] => {
    const names = begin(path)
    if (work.readOnly)
      throw new ToolError(
        'PERMISSION',
        `'${shortenPath(path)}' cannot be changed: the files are open for reading only, because the tool says that it is read-only`,
        { suggestion: "Take 'readOnly' out of the tool's annotations if it has to write" },
      )
    if (names.length === 0) throw createInvalidPathError(path, 'the root itself stays as it is')
    return names
  }
  const look = (names: readonly string[], root = work.root): TreeNode | undefined => {
    work.observed.add(joinPath(names))
    return noting(() => findNode(root, names, base))
  }
  // A file on the way has decided as well: the refusal is void when it is gone.
  const noting = <Value>(walk: () => Value): Value => {
    try {
      return walk()
    } catch (error) {
      if (ToolError.is(error) && typeof error.details?.['path'] === 'string')
        work.observed.add(error.details['path'])
      throw error
    }
  }
  const foldersTo = (names: readonly string[]): FolderNode =>
    noting(() => ensureFolders(work.root, names, base))
  const become = (root: FolderNode): void => {
    storage.checkRoom(root)
    work.root = root
  }
  const existing = (names: readonly string[]): TreeNode =>
    look(names) ?? throwError(createNotFoundError(joinPath(names)))
  const folderAt = (names: readonly string[]): FolderNode => {
    const node = existing(names)
    return node.kind === 'folder'
      ? node
      : throwError(
          createWrongKindError(joinPath(names), 'is a file, not a folder', 'Read it instead'),
        )
  }
  const fileAt = (path: string): OpenedFile => {
    const names = begin(path)
    const node = existing(names)
    return node.kind === 'file'
      ? { path: joinPath(names), file: node, storage, limits }
      : throwError(
          createWrongKindError(joinPath(names), 'is a folder, not a file', 'List it instead'),
        )
  }
  const write = (
    path: string,
    content: string | Uint8Array,
    make: (old: FileNode | undefined, bytes: Uint8Array) => FileNode,
  ): void => {
    const names = change(path)
    const bytes = toBytes(content)
    const root = foldersTo(names.slice(0, -1))
    const old = look(names, root)
    if (old?.kind === 'folder')
      throw createWrongKindError(
        joinPath(names),
        'is a folder, not a file',
        'Choose the path of a file in it',
      )
    if (old?.origin !== undefined) storage.checkWritable(old.origin)
    become(placeNode(root, names, make(old, bytes), base))
  }

  return {
    stat: async (path) => {
      const names = begin(path)
      const node = look(names)
      return node && toFileEntry(joinPath(names), node)
    },
    readText: async (path) => readFileText(fileAt(path)),
    readBytes: async (path) => readFileBytes(fileAt(path)),
    readLines: async (path, page) => readFileLines(fileAt(path), page),
    write: async (path, content) => {
      write(path, content, (old, bytes) =>
        compact({
          kind: 'file',
          size: bytes.length,
          blob: storage.create(bytes),
          traits: old?.traits,
        }),
      )
    },
    append: async (path, content) => {
      write(path, content, (old, bytes) => {
        if (!old) return { kind: 'file', size: bytes.length, blob: storage.create(bytes) }
        const own = old.blob ? { blob: old.blob, size: old.size } : storage.copy(old.origin)
        return compact({
          kind: 'file',
          size: own.size + bytes.length,
          blob: storage.grow(own.blob, own.size, bytes),
          traits: old.traits,
        })
      })
    },
    remove: async (path, options) => {
      const names = change(path)
      const node = existing(names)
      if (node.kind === 'folder') {
        const { nodes, others } = listChildren(node, base)
        const first = nodes[0]?.[0] ?? others[0]
        if (first !== undefined && options?.recursive !== true) {
          // The refusal is true as long as that lies there, so a call that goes on has decided by
          // it.
          if (nodes.length > 0) look([...names, first])
          throw createWrongKindError(
            joinPath(names),
            `is a folder that is not empty: '${shortenPath(first)}' is in it${nodes.length === 0 ? ', which is neither a file nor a folder' : ''}`,
            'Remove it with all that is in it: recursive',
          )
        }
      }
      work.root = placeNode(work.root, names, null, base)
    },
    move: async (from, to) => {
      const [source, target] = [change(from), change(to)]
      const node = existing(source)
      if (source.every((name, index) => target[index] === name))
        throw createWrongKindError(
          joinPath(source),
          'cannot be moved to itself or into itself',
          'Choose a path outside of it',
        )
      const root = foldersTo(target.slice(0, -1))
      if (look(target, root))
        throw createWrongKindError(
          joinPath(target),
          'is there already',
          'Remove it first, or choose another path',
        )
      become(placeNode(placeNode(root, source, null, base), target, node, base))
    },
    makeFolder: async (path) => {
      const names = change(path)
      const root = foldersTo(names)
      // That the folder is there has been promised, and is checked at the end: another object also
      // where nothing was missing.
      if (root === work.root) look(names)
      become({ ...root })
    },
    list: async (path = '.', page) => {
      const names = begin(path)
      const { nodes } = listChildren(folderAt(names), base)
      return slicePage(
        nodes.map(([name, node]) => toFileEntry(joinPath([...names, name]), node)),
        page,
      )
    },
    glob: async (pattern, page) => {
      begin('.')
      return slicePage(
        (await findFiles(work, pattern, limits)).map(([path, node]) => toFileEntry(path, node)),
        page,
      )
    },
    grep: async (pattern, options) => {
      begin('.')
      return findLines(work, pattern, limits, options)
    },
  }
}

function toFileEntry(path: string, node: TreeNode): FileEntry {
  return { path, kind: node.kind, size: node.kind === 'file' ? node.size : 0 }
}

function toBytes(content: unknown): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content)
  if (content instanceof Uint8Array) return content
  throw new ToolError('INVALID_INPUT', 'the content of a file is a text or bytes', {
    field: 'content',
  })
}

function shortenPath(path: unknown): string {
  return String(path).slice(0, 200)
}

function throwError(error: ToolError): never {
  throw error
}

/** How the changes of a call become those of everybody, or of the call around it. */
type ChangeCommitter = {
  /**
   * Gives what takes them back, and what lets go of it; undefined where there was nothing to do.
   */
  commit(): CommittedChanges | undefined | Promise<CommittedChanges | undefined>
  /** Throws away what nobody got to see. */
  discard(): void | Promise<void>
}

/** Changes that are made and may still be taken back. */
export type CommittedChanges = { undo(): void | Promise<void>; end(): void | Promise<void> }

/**
 * The changes of one call. It is a class because one is made in each call, and most never look at
 * their files.
 */
export class FilesTransactionPart implements TransactionPart<Filesystem> {
  private opened: Filesystem | undefined
  private settled: CommittedChanges | undefined

  constructor(
    private readonly work: CallFiles,
    private readonly limits: FileLimits,
    private readonly settling: ChangeCommitter,
  ) {}

  get view(): Filesystem {
    return (this.opened ??= createFilesystemView(this.work, this.limits))
  }

  begin({ readOnly }: { readonly readOnly: boolean }): FilesTransactionPart {
    const { work: outer } = this
    const inner: CallFiles = {
      root: outer.root,
      base: outer.base,
      storage: outer.storage,
      readOnly: readOnly || outer.readOnly,
      observed: new Set(),
      isOver: false,
      outer,
    }
    return new FilesTransactionPart(inner, this.limits, commitIntoOuter(inner, outer))
  }

  async commit(): Promise<void> {
    this.work.isOver = true
    this.settled = await this.settling.commit()
  }

  async rollback(): Promise<void> {
    this.work.isOver = true
    const { settled } = this
    this.settled = undefined
    if (settled) await settled.undo()
    else await this.settling.discard()
  }

  async end(): Promise<void> {
    const { settled } = this
    this.settled = undefined
    await settled?.end()
  }
}

// The call around it may have gone on, and other calls inside it may have ended.
function commitIntoOuter(inner: CallFiles, outer: CallFiles): ChangeCommitter {
  const before = inner.root
  return {
    commit() {
      if (isCallOver(outer))
        throw new ToolError('CANCELLED', 'the call that this one is part of is over')
      for (const path of inner.observed) outer.observed.add(path)
      if (inner.root === before) return undefined
      checkObserved(inner.observed, before, outer.root, inner.base)
      const last = outer.root
      const merged = (outer.root = mergeTrees(before, inner.root, last))
      return {
        undo() {
          outer.root = mergeTrees(merged, last, outer.root)
        },
        end: () => undefined,
      }
    },
    discard: () => undefined,
  }
}
