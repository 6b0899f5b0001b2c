import { ToolError } from '../../contract/tool-error.ts'

/** Limits of files that are offered to calls. */
export type FilesOptions = {
  /** Most bytes that one reading gives at once; default 10 MiB. Longer files are read by lines. */
  readonly maxBytes?: number
  /** Longest time of one `glob` or `grep` in milliseconds; default 10,000. */
  readonly maxSearchMs?: number
}

/** How files in memory are offered to calls. */
export type MemoryFilesOptions = FilesOptions & {
  /** Most bytes that all files have together, each file and folder counted with 256 besides; default 256 MiB, beyond is DISK_FULL. */
  readonly maxTotalBytes?: number
}

/** How a folder is offered to calls. */
export type FolderFilesOptions = FilesOptions & {
  /** Commits survive also the death of the machine, not only that of the process; each costs some milliseconds more. Default false. */
  readonly flush?: boolean
}

/** The limits with their defaults. Throws CONFIG for what is no limit. */
export function readLimits({
  maxBytes = 10 * 1024 * 1024,
  maxSearchMs = 10_000,
}: FilesOptions): Required<FilesOptions> {
  return {
    maxBytes: readLimit('maxBytes', maxBytes),
    maxSearchMs: readLimit('maxSearchMs', maxSearchMs),
  }
}

/** A limit that has to be a whole number above 0. Throws CONFIG for what is none. */
export function readLimit(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new ToolError('CONFIG', `'${name}' must be a whole number from 1, not ${String(value)}`)
  return value
}
