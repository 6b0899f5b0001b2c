import { join } from 'node:path'
import { isRunId } from '../../../../runner/folder/run-id.ts'
import { changedAt } from '../changed-at.ts'
import { startSlices } from '../slices.ts'

/** The ids of the runs of a folder, those whose request was written last first; none where there is no folder. `known` are times of some of them. In slices. */
export async function listIds(
  root: string,
  known: ReadonlyMap<string, number> = new Map(),
): Promise<readonly string[]> {
  const { readdir } = await import('node:fs/promises')
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const slices = startSlices()
  const found: { readonly id: string; readonly at: number }[] = []
  for (const entry of entries) {
    if (!isRunId(entry.name) || !entry.isDirectory()) continue
    found.push({
      id: entry.name,
      at: known.get(entry.name) ?? changedAt(join(root, entry.name, 'run.json')) ?? Infinity,
    })
    await slices.rest()
  }
  return found.sort((left, right) => right.at - left.at).map(({ id }) => id)
}
