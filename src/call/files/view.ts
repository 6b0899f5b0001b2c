import type { FileEntry, Filesystem } from '../../contract/filesystem.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { FilesOptions } from './options.ts'
import { pageOf } from './pages.ts'
import { invalid, pathOf, readPath } from './path.ts'
import { missing, otherKind } from './problems.ts'
import { readBytes, readLines, readText } from './read.ts'
import { findFiles, findLines } from './search.ts'
import { children, find, place, withFolders } from './tree.ts'
import type { FileNode, FolderNode, Node } from './tree.ts'
import { isOver } from './work.ts'
import type { Work } from './work.ts'

/** The files of one call. Everything that changes happens at once, so that parallel steps of a handler cannot meet halfway. */
export function openView(work: Work, limits: Required<FilesOptions>): Filesystem {
  const { base, storage } = work
  const begin = (path: string): readonly string[] => {
    if (isOver(work))
      throw new ToolError('CANCELLED', `the call that '${shown(path)}' was wanted for is over`, {
        suggestion: 'Wait for everything that a handler starts before it returns',
      })
    return readPath(path)
  }
  const change = (path: string): readonly string[] => {
    const names = begin(path)
    if (work.readOnly)
      throw new ToolError(
        'PERMISSION',
        `'${shown(path)}' cannot be changed: the files are open for reading only, because the tool says that it is read-only`,
        { suggestion: "Take 'readOnly' out of the tool's annotations if it has to write" },
      )
    if (names.length === 0) throw invalid(path, 'the root itself stays as it is')
    return names
  }
  const look = (names: readonly string[], root = work.root): Node | undefined => {
    work.looked.add(pathOf(names))
    return noting(() => find(root, names, base))
  }
  // A file on the way has decided as well: the refusal is void when it is gone.
  const noting = <Value>(walk: () => Value): Value => {
    try {
      return walk()
    } catch (error) {
      if (ToolError.is(error) && typeof error.details?.['path'] === 'string')
        work.looked.add(error.details['path'])
      throw error
    }
  }
  const foldersTo = (names: readonly string[]): FolderNode =>
    noting(() => withFolders(work.root, names, base))
  const become = (root: FolderNode): void => {
    storage.checkRoom(root)
    work.root = root
  }
  const existing = (names: readonly string[]): Node => look(names) ?? fail(missing(pathOf(names)))
  const folderAt = (names: readonly string[]): FolderNode => {
    const node = existing(names)
    return node.kind === 'folder'
      ? node
      : fail(otherKind(pathOf(names), 'is a file, not a folder', 'Read it instead'))
  }
  const fileAt = (path: string): { readonly path: string; readonly file: FileNode } => {
    const names = begin(path)
    const node = existing(names)
    return node.kind === 'file'
      ? { path: pathOf(names), file: node }
      : fail(otherKind(pathOf(names), 'is a folder, not a file', 'List it instead'))
  }
  const write = (
    path: string,
    content: string | Uint8Array,
    make: (old: FileNode | undefined, bytes: Uint8Array) => FileNode,
  ): void => {
    const names = change(path)
    const bytes = bytesOf(content)
    const root = foldersTo(names.slice(0, -1))
    const old = look(names, root)
    if (old?.kind === 'folder')
      throw otherKind(pathOf(names), 'is a folder, not a file', 'Choose the path of a file in it')
    if (old?.origin !== undefined) storage.checkWritable(old.origin)
    become(place(root, names, make(old, bytes), base))
  }

  return {
    stat: async (path) => {
      const names = begin(path)
      const node = look(names)
      return node && entryOf(pathOf(names), node)
    },
    readText: async (path) => {
      const { path: name, file } = fileAt(path)
      return readText(name, file, storage, limits)
    },
    readBytes: async (path) => {
      const { path: name, file } = fileAt(path)
      return readBytes(name, file, storage, limits)
    },
    readLines: async (path, page) => {
      const { path: name, file } = fileAt(path)
      return readLines(name, file, storage, limits, page)
    },
    write: async (path, content) => {
      write(path, content, (old, bytes) => ({
        kind: 'file',
        size: bytes.length,
        blob: storage.create(bytes),
        ...(old?.traits && { traits: old.traits }),
      }))
    },
    append: async (path, content) => {
      write(path, content, (old, bytes) => {
        if (!old) return { kind: 'file', size: bytes.length, blob: storage.create(bytes) }
        const own = old.blob ? { blob: old.blob, size: old.size } : storage.copy(old.origin)
        return {
          kind: 'file',
          size: own.size + bytes.length,
          blob: storage.grow(own.blob, own.size, bytes),
          ...(old.traits && { traits: old.traits }),
        }
      })
    },
    remove: async (path, options) => {
      const names = change(path)
      const node = existing(names)
      if (node.kind === 'folder') {
        const { nodes, others } = children(node, base)
        const first = nodes[0]?.[0] ?? others[0]
        if (first !== undefined && options?.recursive !== true) {
          // The refusal is true as long as that lies there, so a call that goes on has decided by it.
          if (nodes.length > 0) look([...names, first])
          throw otherKind(
            pathOf(names),
            `is a folder that is not empty: '${shown(first)}' is in it${nodes.length === 0 ? ', which is neither a file nor a folder' : ''}`,
            'Remove it with all that is in it: recursive',
          )
        }
      }
      work.root = place(work.root, names, null, base)
    },
    move: async (from, to) => {
      const [source, target] = [change(from), change(to)]
      const node = existing(source)
      if (source.every((name, index) => target[index] === name))
        throw otherKind(
          pathOf(source),
          'cannot be moved to itself or into itself',
          'Choose a path outside of it',
        )
      const root = foldersTo(target.slice(0, -1))
      if (look(target, root))
        throw otherKind(
          pathOf(target),
          'is there already',
          'Remove it first, or choose another path',
        )
      become(place(place(root, source, null, base), target, node, base))
    },
    makeFolder: async (path) => {
      const names = change(path)
      const root = foldersTo(names)
      // That the folder is there has been promised, and is checked at the end: another object also where nothing was missing.
      if (root === work.root) look(names)
      become({ ...root })
    },
    list: async (path = '.', page) => {
      const names = begin(path)
      const { nodes } = children(folderAt(names), base)
      return pageOf(
        nodes.map(([name, node]) => entryOf(pathOf([...names, name]), node)),
        page,
      )
    },
    glob: async (pattern, page) => {
      begin('.')
      return pageOf(
        (await findFiles(work, pattern, limits)).map(([path, node]) => entryOf(path, node)),
        page,
      )
    },
    grep: async (pattern, options) => {
      begin('.')
      return findLines(work, pattern, limits, options)
    },
  }
}

function entryOf(path: string, node: Node): FileEntry {
  return { path, kind: node.kind, size: node.kind === 'file' ? node.size : 0 }
}

function bytesOf(content: unknown): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content)
  if (content instanceof Uint8Array) return content
  throw new ToolError('INVALID_INPUT', 'the content of a file is a text or bytes', {
    field: 'content',
  })
}

function shown(path: unknown): string {
  return String(path).slice(0, 200)
}

function fail(error: ToolError): never {
  throw error
}
