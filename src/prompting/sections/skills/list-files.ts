import { join } from 'node:path'
import { ToolError } from '../../../contract/tool-error.ts'
import { realBelow } from '../../../registry/folder/inside.ts'
import { SKILL_LIMITS } from './skill-limits.ts'

/** The files of a skill, sorted, `/` between the parts, without those whose names begin with a dot. Throws CONFIG for links that lead out of the folder, for what is no file, and beyond the limits. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  const { readdir, stat } = await import('node:fs/promises')
  const files: string[] = []
  let bytes = 0
  let entries = 0
  const add = async (path: string): Promise<void> => {
    const { size } = await stat(join(folder, path))
    bytes += size
    files.push(path)
    if (size > SKILL_LIMITS.fileBytes)
      throw refuse(
        folder,
        `'${path}' has ${size} bytes; a file of a skill may have ${SKILL_LIMITS.fileBytes}`,
        'Make it smaller, or take it out',
      )
    if (bytes > SKILL_LIMITS.bytes)
      throw refuse(
        folder,
        `its files have more than ${SKILL_LIMITS.bytes} bytes together`,
        'Take some out',
      )
  }
  const walk = async (below: readonly string[]): Promise<void> => {
    if (below.length > SKILL_LIMITS.depth)
      throw refuse(
        folder,
        `'${below.join('/')}' is nested more than ${SKILL_LIMITS.depth} deep`,
        'Move it up',
      )
    for (const entry of await readdir(join(folder, ...below), { withFileTypes: true })) {
      // `.git` and its like are no part of what a skill says.
      if (entry.name.startsWith('.')) continue
      const path = [...below, entry.name].join('/')
      if ((entries += 1) > SKILL_LIMITS.entries)
        throw refuse(
          folder,
          `it has more than ${SKILL_LIMITS.entries} files and folders`,
          'Take some out',
        )
      if (entry.isDirectory()) await walk([...below, entry.name])
      else if (entry.isFile()) await add(path)
      else if (!entry.isSymbolicLink())
        throw refuse(folder, `'${path}' is neither a file nor a folder`, 'Take it out')
      else {
        const real = realBelow(folder, join(folder, path))
        if (real === undefined)
          throw refuse(
            folder,
            `the link '${path}' leads out of the folder, or nowhere`,
            'Put a copy in its place',
          )
        // What a link to a folder of the skill shows is listed there already.
        if ((await stat(real)).isFile()) await add(path)
      }
    }
  }
  await walk([])
  return files.sort((left, right) => (left < right ? -1 : 1))
}

function refuse(folder: string, problem: string, fix: string): ToolError {
  return new ToolError('CONFIG', `the skill in ${folder}: ${problem}`, {
    details: { folder },
    suggestion: fix,
  })
}
