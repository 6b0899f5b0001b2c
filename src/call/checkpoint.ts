import { join } from 'node:path'
import type { Checkpoint } from '../contract/context.ts'
import { ToolError } from '../contract/tool-error.ts'
import { host } from './host.ts'

/** The checkpoint of one stage: `<folder>/.checkpoints/<stage>.json`, replaced atomically. */
export function openCheckpoint(folder: string, stage: string): Checkpoint {
  if (typeof stage !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(stage))
    throw new ToolError(
      'INVALID_INPUT',
      `checkpoint stage '${stage}' must be letters, digits, '.', '_' and '-'`,
    )
  const file = join(folder, '.checkpoints', `${stage}.json`)
  return {
    async load<Data>() {
      const { readFile } = await import('node:fs/promises')
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined
        throw error
      })
      return text === undefined ? undefined : readData<Data>(text, file, stage)
    },
    async save(data) {
      const { mkdir, rename, writeFile, rm } = await import('node:fs/promises')
      await mkdir(join(folder, '.checkpoints'), { recursive: true })
      const temporary = `${file}.${host.pid}.${host.clock()}.tmp`
      try {
        await writeFile(temporary, JSON.stringify({ stage, data }), { flush: true })
        await rename(temporary, file)
      } catch (error) {
        await rm(temporary, { force: true })
        throw error
      }
    },
  }
}

function readData<Data>(text: string, file: string, stage: string): Data {
  try {
    const saved = JSON.parse(text) as { stage?: unknown; data?: Data }
    if (saved.stage === stage) return saved.data as Data
  } catch {
    /* told below, like a file of another stage */
  }
  throw new ToolError('PRECONDITION', `the checkpoint ${file} is damaged: remove it to start over`)
}
