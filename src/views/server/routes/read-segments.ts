import { ToolError } from '../../../contract/tool-error.ts'
import { isRunId } from '../../../runner/folder/run-id.ts'

const LONGEST_NAME = 300

/** A part of a path as it was meant. Throws INVALID_INPUT for what no name has: it might be made part of a path. */
export function decodeSegment(segment: string): string {
  const text = decode(segment)
  if (
    text === '' ||
    text === '.' ||
    text === '..' ||
    text.length > LONGEST_NAME ||
    /[/\\\p{Cc}]/u.test(text)
  )
    throw new ToolError('INVALID_INPUT', `'${segment.slice(0, 100)}' is no name`)
  return text
}

/** The id of a run, whole; throws INVALID_INPUT. */
export function readRunId(text: string): string {
  if (isRunId(text)) return text
  throw new ToolError(
    'INVALID_INPUT',
    `'${text.slice(0, 100)}' is not the id of a run: ids look like r-0123456789`,
    { field: 'run' },
  )
}

/** A place in a list, from 0; throws INVALID_INPUT. */
export function readIndex(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new ToolError(
    'INVALID_INPUT',
    `'${text.slice(0, 100)}' is no place in a list: they are numbers from 0`,
    { field: 'index' },
  )
}

function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new ToolError('INVALID_INPUT', `'${segment.slice(0, 100)}' is not percent-encoded UTF-8`)
  }
}
