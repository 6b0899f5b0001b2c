import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The files below a folder as sorted relative paths. Links are not followed, so a loop cannot
 * happen; folders that may not be read are left out.
 */
export async function* walk(
  root,
  signal,
  { maxDepth = 10, includeHidden = false } = {},
  folder = '',
) {
  signal.throwIfAborted()
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
  entries.sort((left, right) => (left.name < right.name ? -1 : 1))
  for (const entry of entries) {
    if (entry.name.startsWith('.') && !includeHidden) continue
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isFile()) yield path
    if (entry.isDirectory() && maxDepth > 1)
      yield* walk(root, signal, { maxDepth: maxDepth - 1, includeHidden }, path)
  }
}
