import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'

/** A file of a new project. */
export type NewFile = {
  readonly path: string
  readonly text: string
  /** It can be started. */ readonly program?: true
}

/** Writes files that are not there yet, all or none. Throws CONFLICT for one that has come in between, DISK_FULL, PERMISSION or INVALID_PATH. */
export function writeNewFiles(folder: string, files: readonly NewFile[]): void {
  const written: string[] = []
  try {
    for (const { path, text, program } of files) {
      const file = join(folder, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, '', { flag: 'wx', mode: program ? 0o755 : 0o644 })
      written.push(file)
      writeFileSync(file, text)
    }
  } catch (error) {
    for (const file of written) rmSync(file, { force: true })
    throw explain(error as NodeJS.ErrnoException)
  }
}

function explain(error: NodeJS.ErrnoException): ToolError {
  const where = error.path ?? 'the project'
  if (error.code === 'EEXIST')
    return new ToolError('CONFLICT', `${where} is there already`, {
      cause: error,
      suggestion: 'Move it away, or begin in another folder',
    })
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    return new ToolError('DISK_FULL', `no space is left for ${where}`, { cause: error })
  if (error.code === 'EACCES' || error.code === 'EPERM' || error.code === 'EROFS')
    return new ToolError('PERMISSION', `${where} cannot be written (${error.code})`, {
      cause: error,
    })
  return new ToolError(
    'INVALID_PATH',
    `${where} cannot be written (${error.code ?? error.message})`,
    { cause: error, suggestion: 'Begin in another folder' },
  )
}
