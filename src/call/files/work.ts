import type { Base, Blob, FileNode, FolderNode } from './tree.ts'

/** Where contents are kept that calls write. */
export type Storage = {
  create(bytes: Uint8Array): Blob
  /** A content of its own that begins like a file of the base. */
  copy(origin: string): { readonly blob: Blob; readonly size: number }
  /** Adds to a content behind its first `size` bytes. */
  grow(blob: Blob, size: number, bytes: Uint8Array): Blob
  /** Throws PERMISSION where a file of the base may not be written: replacing it would not ask. */
  checkWritable(origin: string): void
  read(file: FileNode, offset: number, length: number): Uint8Array
  /** Throws DISK_FULL where there is no room for all that is in a tree. */
  checkRoom(root: FolderNode): void
}

/** The files as one call sees them: a tree that is replaced by each change, over a base that stays. */
export type Work = {
  root: FolderNode
  readonly base: Base
  readonly storage: Storage
  readonly readOnly: boolean
  /** Paths that the call decided by: it is void when others changed them meanwhile. */
  readonly looked: Set<string>
  /** No word of a call that is over counts. */
  isOver: boolean
  /** The call that this one is part of. */
  readonly outer?: Work
}

/** Whether a call is over, or one that it is part of. */
export function isOver(work: Work): boolean {
  return work.isOver || (work.outer !== undefined && isOver(work.outer))
}
