/**
 * `memoryFiles`: a file tree in memory.
 */

import type { Filesystem, Transactional } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { isObject } from '../../util/values.ts'
import { Mutex } from '../state/mutex.ts'
import { resolveLimits, validateLimit } from './read.ts'
import type { MemoryFilesOptions } from './read.ts'
import {
  checkObserved,
  EMPTY_BASE,
  EMPTY_FOLDER,
  ensureFolders,
  findNode,
  joinPath,
  mergeTrees,
  parsePath,
  placeNode,
} from './tree.ts'
import type { BlobStorage, CallFiles, FileBlob, FileNode, FolderNode } from './tree.ts'
import { FilesTransactionPart } from './view.ts'

const DEFAULT_MAX_TOTAL_BYTES = 256 * 1024 * 1024

/** Opens files in memory. Throws DISK_FULL where they are more than there is room for. */
export function openMemoryFiles(
  initial: MemoryFilesInput,
  { maxTotalBytes = DEFAULT_MAX_TOTAL_BYTES, ...options }: MemoryFilesOptions,
): MemoryFiles {
  const limits = resolveLimits(options)
  const most = validateLimit('maxTotalBytes', maxTotalBytes)
  const checkRoom = ({ weight }: FolderNode): void => {
    if (weight > most) throw createNoRoomError(weight, most)
  }
  const storage: BlobStorage = { ...memoryStorage, checkRoom }
  const turns = new Mutex()
  let root = parseTree(initial)
  checkRoom(root)
  return {
    begin({ readOnly }) {
      const before = root
      const work: CallFiles = {
        root: before,
        base: EMPTY_BASE,
        storage,
        readOnly,
        observed: new Set(),
        isOver: false,
      }
      return new FilesTransactionPart(work, limits, {
        async commit() {
          if (work.root === before) return undefined
          // Until it is ended nobody else commits, so that it can be taken back.
          const done = await turns.acquire()
          const last = root
          try {
            checkObserved(work.observed, before, last, EMPTY_BASE)
            const merged = mergeTrees(before, work.root, last)
            // Others may have taken the room meanwhile.
            checkRoom(merged)
            root = merged
          } catch (error) {
            done()
            throw error
          }
          return {
            undo() {
              root = last
              done()
            },
            end: done,
          }
        },
        discard: () => undefined,
      })
    },
    toJSON: () => serializeTree(root),
  }
}

function createNoRoomError(wanted: number, most: number): ToolError {
  return new ToolError(
    'DISK_FULL',
    `the files in memory would have ${wanted} bytes, more than the ${most} that there is room for`,
    {
      details: { limit: most, wanted },
      suggestion: 'Remove files that nobody needs, or give memoryFiles() a larger maxTotalBytes',
    },
  )
}

/** The tree that JSON describes. Throws CONFIG, naming the path, where it cannot be. */
function parseTree(given: MemoryFilesInput): FolderNode {
  const {
    version = 1,
    files = {},
    folders = [],
  } = isObject(given) ? given : throwConfigError('files in memory are given as an object')
  if (version !== 1)
    throwConfigError(`files in memory of version ${String(version)} are not known, only 1`)
  if (!isObject(files) || !Array.isArray(folders))
    throwConfigError("files in memory are { files: { 'a.txt': 'text' }, folders: ['empty'] }")
  let root = EMPTY_FOLDER
  for (const [path, content] of Object.entries(files)) {
    const names = parseFilePath(path)
    root = atPath(path, () => ensureFolders(root, names.slice(0, -1), EMPTY_BASE))
    if (findNode(root, names, EMPTY_BASE)) throwConfigError(`'${path}' is there twice`)
    const bytes = contentToBytes(path, content)
    root = placeNode(
      root,
      names,
      { kind: 'file', size: bytes.length, blob: memoryStorage.create(bytes) },
      EMPTY_BASE,
    )
  }
  for (const path of folders)
    root = atPath(String(path), () => ensureFolders(root, parsePath(path), EMPTY_BASE))
  return root
}

/** The tree as JSON, by path. */
function serializeTree(root: FolderNode): MemoryFilesJson {
  const files: [string, string | { base64: string }][] = []
  const folders: string[] = []
  const waiting: (readonly [names: readonly string[], folder: FolderNode])[] = [[[], root]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [names, folder] = next
    if (folder.entries.size === 0 && names.length > 0) folders.push(joinPath(names))
    for (const [name, node] of folder.entries.entries()) {
      if (node?.kind === 'file') files.push([joinPath([...names, name]), toContent(node)])
      else if (node) waiting.push([[...names, name], node])
    }
  }
  return {
    version: 1,
    files: Object.fromEntries(files.sort(([left], [right]) => (left < right ? -1 : 1))),
    folders: folders.sort(),
  }
}

function toContent(file: FileNode): string | { base64: string } {
  const bytes = memoryStorage.read(file, 0, file.size)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') }
  }
}

function contentToBytes(path: string, content: unknown): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content)
  if (content instanceof Uint8Array) return content
  if (isObject(content) && typeof content['base64'] === 'string')
    return Buffer.from(content['base64'], 'base64')
  return throwConfigError(`the content of '${path}' is neither a text, nor bytes, nor { base64 }`)
}

function parseFilePath(path: string): readonly string[] {
  const names = atPath(path, () => parsePath(path))
  return names.length > 0 ? names : throwConfigError("the root '.' is a folder")
}

function atPath<Value>(path: string, act: () => Value): Value {
  try {
    return act()
  } catch (error) {
    return throwConfigError(
      `'${path.slice(0, 200)}' cannot lie in memory: ${(error as Error).message}`,
    )
  }
}

function throwConfigError(message: string): never {
  throw new ToolError('CONFIG', message)
}

const MIN_BLOB_BYTES = 64

// What is appended lies behind what others see, so that they can share the bytes.
class GrowingBlob implements FileBlob {
  readonly id = 0
  constructor(
    public bytes: Uint8Array,
    public used: number,
  ) {}
}

/** Keeps contents in memory. Appending costs what is appended, however long the file is. */
const memoryStorage: Omit<BlobStorage, 'checkRoom'> = {
  // A copy: the caller's bytes may change.
  create: (bytes) => new GrowingBlob(Uint8Array.from(bytes), bytes.length),
  copy: () => {
    throw new Error('there is nothing below files in memory')
  },
  checkWritable: () => undefined,
  grow(blob, size, bytes) {
    let own = blob as GrowingBlob
    if (own.used !== size || own.bytes.length < size + bytes.length) {
      const room = new Uint8Array(Math.max(MIN_BLOB_BYTES, 2 * (size + bytes.length)))
      room.set(own.bytes.subarray(0, size))
      own = new GrowingBlob(room, size)
    }
    own.bytes.set(bytes, size)
    own.used = size + bytes.length
    return own
  },
  read: (file: FileNode, offset, length) =>
    (file.blob as GrowingBlob).bytes.slice(offset, Math.min(offset + length, file.size)),
}

/**
 * Files in memory as JSON: texts as they are, other contents in base64, and the folders that are
 * empty.
 */
export type MemoryFilesJson = {
  readonly version: 1
  readonly files: { readonly [path: string]: string | { readonly base64: string } }
  readonly folders: readonly string[]
}

/** What lies in memory at first: what `toJSON` gave, or the same written by hand. */
export type MemoryFilesInput = {
  readonly version?: 1
  readonly files?: { readonly [path: string]: string | Uint8Array | { readonly base64: string } }
  readonly folders?: readonly string[]
}

/** Files in memory, for `createState({ filesystem })`. */
export type MemoryFiles = Transactional<Filesystem> & {
  /** What is committed now. */ toJSON(): MemoryFilesJson
}
