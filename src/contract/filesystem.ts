/** A part of a longer list, and where the next part begins. */
export type Page<Item> = {
  readonly items: readonly Item[]
  readonly total: number
  readonly next?: number
}

/** Which part of a list is wanted; default: from 0, 1,000 items. */
export type PageOptions = { readonly offset?: number; readonly limit?: number }

/** A file or folder. Paths are relative to the root, with `/`. */
export type FileEntry = {
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** Bytes; 0 for a folder. */ readonly size: number
}

/** A line that a search found. */
export type FoundLine = {
  readonly path: string
  /** From 1. */ readonly line: number
  readonly text: string
}

/** Files under one root, which no path and no link leaves. Missing is NOT_FOUND, outside is INVALID_PATH, a folder where a file is wanted is CONFLICT, too much at once is OUTPUT_LIMIT. */
export type Filesystem = {
  /** Undefined where there is nothing. */
  stat(path: string): Promise<FileEntry | undefined>
  readText(path: string): Promise<string>
  readBytes(path: string): Promise<Uint8Array>
  /** Lines of a text, `offset` from 0. */
  readLines(path: string, page?: PageOptions): Promise<Page<string>>
  /** Writes a whole file and makes the folders on the way. */
  write(path: string, content: string | Uint8Array): Promise<void>
  append(path: string, content: string | Uint8Array): Promise<void>
  /** A folder only when it is empty, unless `recursive`. */
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Makes the folders on the way; CONFLICT where something is already. */
  move(from: string, to: string): Promise<void>
  makeFolder(path: string): Promise<void>
  /** What lies directly in a folder, by name. */
  list(path?: string, page?: PageOptions): Promise<Page<FileEntry>>
  /** Files whose path fits a pattern of `*`, `?`, `**`, `{a,b}` and `[abc]`, by path. A name with a leading dot fits only where the dot is written. */
  glob(pattern: string, page?: PageOptions): Promise<Page<FileEntry>>
  /** Lines that hold the text or fit the expression, in text files that fit `glob`, by path and line; an expression sees the first 10,000 characters of a line. */
  grep(
    pattern: string | RegExp,
    options?: PageOptions & { readonly glob?: string },
  ): Promise<Page<FoundLine>>
}
