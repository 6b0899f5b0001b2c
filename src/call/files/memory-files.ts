import type { Filesystem } from '../../contract/filesystem.ts'
import type { Transactional } from '../../contract/state.ts'
import { openLate } from './late.ts'
import type { FilesOptions } from './options.ts'

/** Files in memory as JSON: texts as they are, other contents in base64, and the folders that are empty. */
export type MemoryFilesJson = { readonly version: 1; readonly files: { readonly [path: string]: string | { readonly base64: string } }; readonly folders: readonly string[] }

/** What lies in memory at first: what `toJSON` gave, or the same written by hand. */
export type MemoryFilesInput = { readonly version?: 1; readonly files?: { readonly [path: string]: string | Uint8Array | { readonly base64: string } }; readonly folders?: readonly string[] }

/** Files in memory, for `createState({ filesystem })`. */
export type MemoryFiles = Transactional<Filesystem> & { /** What is committed now. */ toJSON(): MemoryFilesJson }

/** Files in memory that roll back when a call fails. A call that fails costs nothing, because trees share all that is the same in them. */
export function memoryFiles(initial: MemoryFilesInput = {}, options: FilesOptions = {}): MemoryFiles {
  const late = openLate(async () => {
    const { openMemory } = await import('./memory/open.ts')
    return openMemory(initial, options)
  })
  return { begin: late.begin, toJSON: () => late.opened()?.toJSON() ?? asJson(initial) }
}

function asJson({ files = {}, folders = [] }: MemoryFilesInput): MemoryFilesJson {
  const texts = Object.entries(files).map(([path, content]) => [path, content instanceof Uint8Array ? { base64: Buffer.from(content).toString('base64') } : content] as const)
  return { version: 1, files: Object.fromEntries(texts), folders }
}
