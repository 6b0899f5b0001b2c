import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { ToolError } from '../../contract/tool-error.ts'
import { diskProblem } from './disk-problem.ts'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Opens a file of a run for reading; undefined where there is none. A tool with the rights of its caller can put links, pipes and folders in its place, which would lead elsewhere or hold us up: those are refused. Throws PERMISSION or INTERNAL. */
export async function openOrdinary(path: string): Promise<FileHandle | undefined> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code !== 'ELOOP' && code !== 'ENXIO') throw diskProblem(error, `cannot read ${path}`)
  }
  throw new ToolError('INTERNAL', `${path} is not a file that a runner wrote`)
}
