import { ToolError } from '../../contract/tool-error.ts'

const FULL: readonly string[] = ['ENOSPC', 'EDQUOT']
const FORBIDDEN: readonly string[] = ['EACCES', 'EPERM', 'EROFS']

/** What the file system said, as an error of ours: DISK_FULL, PERMISSION, or INTERNAL for everything else. */
export function diskProblem(error: unknown, doing: string): ToolError {
  if (ToolError.is(error)) return error
  const { code = 'error' } = error as NodeJS.ErrnoException
  const message = `${doing}: ${code}`
  if (FULL.includes(code))
    return new ToolError('DISK_FULL', message, {
      cause: error,
      suggestion: 'Free space (toolable runs clean --older-than 7d), then resume the run',
    })
  if (FORBIDDEN.includes(code))
    return new ToolError('PERMISSION', message, {
      cause: error,
      suggestion: 'Give your user the right to write there, or start where you have it',
    })
  return new ToolError('INTERNAL', message, { cause: error })
}
