import { ToolError } from '../../contract/tool-error.ts'

/** Limits of files that are offered to calls. */
export type FilesOptions = {
  /** Most bytes that one reading gives at once; default 10 MiB. Longer files are read by lines. */
  readonly maxBytes?: number
  /** Longest time of one `glob` or `grep` in milliseconds; default 10,000. */
  readonly maxSearchMs?: number
}

/** How a folder is offered to calls. */
export type FolderFilesOptions = FilesOptions & {
  /** Commits survive also the death of the machine, not only that of the process; each costs some milliseconds more. Default false. */
  readonly flush?: boolean
}

/** The limits with their defaults. Throws CONFIG for what is no limit. */
export function readLimits({ maxBytes = 10 * 1024 * 1024, maxSearchMs = 10_000 }: FilesOptions): Required<FilesOptions> {
  for (const [name, value] of Object.entries({ maxBytes, maxSearchMs })) {
    if (!Number.isSafeInteger(value) || value < 1) throw new ToolError('CONFIG', `'${name}' must be a whole number from 1, not ${String(value)}`)
  }
  return { maxBytes, maxSearchMs }
}
