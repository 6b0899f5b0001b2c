import { isObject } from '../../../contract/json.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { pathOf, readPath } from '../path.ts'
import { EMPTY_FOLDER, NO_BASE, find, place, withFolders } from '../tree.ts'
import type { FileNode, FolderNode } from '../tree.ts'
import type { MemoryFilesInput, MemoryFilesJson } from './memory-type.ts'
import { memoryStorage } from './storage.ts'

/** The tree that JSON describes. Throws CONFIG, naming the path, where it cannot be. */
export function readTree(given: MemoryFilesInput): FolderNode {
  const {
    version = 1,
    files = {},
    folders = [],
  } = isObject(given) ? given : refuse('files in memory are given as an object')
  if (version !== 1) refuse(`files in memory of version ${String(version)} are not known, only 1`)
  if (!isObject(files) || !Array.isArray(folders))
    refuse("files in memory are { files: { 'a.txt': 'text' }, folders: ['empty'] }")
  let root = EMPTY_FOLDER
  for (const [path, content] of Object.entries(files)) {
    const names = namesOf(path)
    root = at(path, () => withFolders(root, names.slice(0, -1), NO_BASE))
    if (find(root, names, NO_BASE)) refuse(`'${path}' is there twice`)
    const bytes = bytesOf(path, content)
    root = place(
      root,
      names,
      { kind: 'file', size: bytes.length, blob: memoryStorage.create(bytes) },
      NO_BASE,
    )
  }
  for (const path of folders)
    root = at(String(path), () => withFolders(root, readPath(path), NO_BASE))
  return root
}

/** The tree as JSON, by path. */
export function writeTree(root: FolderNode): MemoryFilesJson {
  const files: [string, string | { base64: string }][] = []
  const folders: string[] = []
  const waiting: (readonly [names: readonly string[], folder: FolderNode])[] = [[[], root]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [names, folder] = next
    if (folder.entries.size === 0 && names.length > 0) folders.push(pathOf(names))
    for (const [name, node] of folder.entries.entries()) {
      if (node?.kind === 'file') files.push([pathOf([...names, name]), contentOf(node)])
      else if (node) waiting.push([[...names, name], node])
    }
  }
  return {
    version: 1,
    files: Object.fromEntries(files.sort(([left], [right]) => (left < right ? -1 : 1))),
    folders: folders.sort(),
  }
}

function contentOf(file: FileNode): string | { base64: string } {
  const bytes = memoryStorage.read(file, 0, file.size)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') }
  }
}

function bytesOf(path: string, content: unknown): Uint8Array {
  if (typeof content === 'string') return Buffer.from(content)
  if (content instanceof Uint8Array) return content
  if (isObject(content) && typeof content['base64'] === 'string')
    return Buffer.from(content['base64'], 'base64')
  return refuse(`the content of '${path}' is neither a text, nor bytes, nor { base64 }`)
}

function namesOf(path: string): readonly string[] {
  const names = at(path, () => readPath(path))
  return names.length > 0 ? names : refuse("the root '.' is a folder")
}

function at<Value>(path: string, act: () => Value): Value {
  try {
    return act()
  } catch (error) {
    return refuse(`'${path.slice(0, 200)}' cannot lie in memory: ${(error as Error).message}`)
  }
}

function refuse(message: string): never {
  throw new ToolError('CONFIG', message)
}
