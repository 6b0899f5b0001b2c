import { statSync } from 'node:fs'
import { join } from 'node:path'
import { isRunId } from '../../../../runner/folder/run-id.ts'
import { startSlices } from '../slices.ts'

/** The ids of the runs of a folder, those whose request was written last first; none where there is no folder. In slices. */
export async function listIds(root: string): Promise<readonly string[]> {
  const { readdir } = await import('node:fs/promises')
  const names = await readdir(root).catch(() => [])
  const slices = startSlices()
  const found: { readonly id: string; readonly at: number }[] = []
  for (const id of names) {
    if (!isRunId(id)) continue
    found.push({ id, at: statSync(join(root, id, 'run.json'), { throwIfNoEntry: false })?.mtimeMs ?? Infinity })
    await slices.rest()
  }
  return found.sort((left, right) => right.at - left.at).map(({ id }) => id)
}
