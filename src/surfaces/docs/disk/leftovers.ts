import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isMarked } from '../mark.ts'
import { locate } from './locate.ts'
import { readText } from './read-text.ts'

/** Files in a folder that this program once generated as this kind of document and does not generate any more. Paths are relative to `root`, with slashes. */
export async function findLeftovers(
  root: string,
  folder: string,
  program: string,
  kind: string,
  generated: ReadonlySet<string>,
): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
      throw error
    },
  )
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => `${folder}/${entry.name}`)
    .filter((path) => !generated.has(path))
    .sort()
  const old: string[] = []
  for (const path of names) {
    const text = await readText(await locate(root, path)).catch(() => undefined)
    if (text !== undefined && isMarked(text, program, kind)) old.push(path)
  }
  return old
}
