import type { ErrorCode } from '../../contract/errors.ts'
import { ToolError } from '../../contract/tool-error.ts'

const PROBLEMS: { readonly [code: string]: readonly [ErrorCode, string] } = {
  EACCES: ['PERMISSION', 'may not be touched by this user'],
  EPERM: ['PERMISSION', 'may not be touched by this user'],
  EROFS: ['PERMISSION', 'is on a file system that cannot be written'],
  ELOOP: ['CONFIG', 'is a link that leads to itself'],
  EISDIR: ['CONFIG', 'is a folder and not a file'],
  ENOTDIR: ['CONFIG', 'lies below something that is no folder'],
  EBUSY: ['CONFLICT', 'cannot be replaced while it is in use or mounted'],
  ENAMETOOLONG: ['CONFIG', 'has a name that is too long for this system'],
  ENOSPC: ['DISK_FULL', 'cannot be written: the disk is full'],
  EDQUOT: ['DISK_FULL', 'cannot be written: the disk is full'],
}

/** What the system or a reader said about a file, as the error of that file. Anything else is given back as it is. */
export function fileProblem(error: unknown, path: string): unknown {
  if (ToolError.is(error))
    return error.code === 'CONFIG' ? configProblem(path, error.message) : error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error
  const [known, words] = PROBLEMS[code] ?? (['INTERNAL', `cannot be used: ${message}`] as const)
  return known === 'CONFIG'
    ? configProblem(path, words)
    : new ToolError(known, `${path} ${words}`, {
        cause: error,
        details: { file: path },
        suggestion:
          known === 'DISK_FULL'
            ? 'Free space on its disk, and try again'
            : `Make ${path} writable and try again`,
      })
}

/** The error of a file of somebody else that is not what it should be. */
export function configProblem(path: string, problem: string): ToolError {
  return new ToolError('CONFIG', `${path} ${problem}; it was left alone`, {
    details: { file: path },
    suggestion: `Mend ${path} and try again`,
  })
}
