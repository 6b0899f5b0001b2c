import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { invalid } from './path.ts'

const FULL: readonly string[] = ['ENOSPC', 'EDQUOT']
const FORBIDDEN: readonly string[] = ['EACCES', 'EPERM', 'EROFS']
const CHANGED: readonly string[] = ['ENOENT', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY', 'EISDIR']

/** Says that nothing lies at a path. */
export function missing(path: string): ToolError {
  return new ToolError('NOT_FOUND', `there is no '${shorten(path, 200)}'`, {
    suggestion: 'List the folder to see what is there',
    details: { path },
  })
}

/** Says that something else lies at a path than is wanted. */
export function otherKind(path: string, reason: string, fix: string): ToolError {
  return new ToolError('CONFLICT', `'${shorten(path, 200)}' ${reason}`, {
    suggestion: fix,
    details: { path },
  })
}

/** Says that somebody else changed what a call worked with. */
export function changedMeanwhile(path: string, cause?: unknown): ToolError {
  return new ToolError(
    'CONFLICT',
    `'${shorten(path, 200)}' was changed by somebody else during the call; nothing of the call was kept`,
    {
      retryable: true,
      suggestion: 'Read it again, then repeat the call',
      details: { path },
      cause,
    },
  )
}

/** What the file system said, as an error of ours. */
export function diskProblem(error: unknown, doing: string, path: string): ToolError {
  if (ToolError.is(error)) return error
  const { code = 'error', message } = error as NodeJS.ErrnoException
  const text = `cannot ${doing} '${shorten(path, 200)}': ${code === 'error' ? message : code}`
  if (FULL.includes(code))
    return new ToolError('DISK_FULL', text, {
      cause: error,
      suggestion: 'Free space, then repeat the call',
    })
  if (FORBIDDEN.includes(code))
    return new ToolError('PERMISSION', text, {
      cause: error,
      suggestion: 'Give the user of this process the right to do that, or choose another path',
    })
  if (code === 'ENAMETOOLONG') return invalid(path, 'the path is too long for the file system')
  if (code === 'ELOOP') return invalid(path, 'links are not followed')
  if (code === 'EXDEV')
    return new ToolError('PRECONDITION', `${text}: it lies on another file system than the root`, {
      cause: error,
      suggestion: 'Keep the files of one call on one file system',
    })
  if (CHANGED.includes(code)) return changedMeanwhile(path, error)
  return new ToolError('INTERNAL', text, { cause: error })
}
