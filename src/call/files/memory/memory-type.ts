import type { Filesystem } from '../../../contract/filesystem.ts'
import type { Transactional } from '../../../contract/state.ts'

/** Files in memory as JSON: texts as they are, other contents in base64, and the folders that are empty. */
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
