import { realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import { listFiles } from './list-files.ts'
import { readHead } from './read-head.ts'
import type { SkillFolder } from './skill-type.ts'

/** Reads the folder of a skill. Throws INVALID_PATH where there is none, and CONFIG for one that cannot be used. */
export async function loadSkill(path: string, cwd: string): Promise<SkillFolder> {
  const folder = realFolder(resolve(cwd, path), path)
  const files = await listFiles(folder)
  if (!files.includes('SKILL.md'))
    throw new ToolError('INVALID_PATH', `there is no SKILL.md in '${path}'`, {
      suggestion: 'Give the folder that holds the SKILL.md',
    })
  const { readFile } = await import('node:fs/promises')
  const head = await readHead(
    join(folder, 'SKILL.md'),
    await readFile(join(folder, 'SKILL.md'), 'utf8'),
  )
  return { ...head, folder, files: files.filter((file) => file !== 'SKILL.md') }
}

function realFolder(folder: string, given: string): string {
  const refuse = (cause?: unknown): ToolError =>
    new ToolError('INVALID_PATH', `there is no folder '${given}'`, {
      cause,
      suggestion: 'Give the folder that holds the SKILL.md',
    })
  let real: string
  try {
    real = realpathSync.native(folder)
  } catch (error) {
    throw refuse(error)
  }
  if (!statSync(real).isDirectory()) throw refuse()
  return real
}
