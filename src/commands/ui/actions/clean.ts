import { ToolError } from '../../../contract/tool-error.ts'
import { listRuns } from '../../../runner/folder/list-runs.ts'
import { recover } from '../../../runner/folder/recover.ts'
import { findEnded, removeAll } from '../../runs/clean.ts'
import { bytesOf } from '../catalogue/disk-usage.ts'

const DAY_MS = 24 * 3600 * 1000

/** Removes runs that are over for so many days; gives how many, and the bytes that were theirs. Throws INVALID_INPUT for what is no number of days, and what kept the first of them from being removed where none was. */
export async function cleanOld(
  root: string,
  days: number,
  now: number,
): Promise<{ readonly removed: number; readonly bytes: number }> {
  if (!Number.isFinite(days) || days < 0)
    throw new ToolError('INVALID_INPUT', `days must be a number from 0 on; got ${String(days)}`, {
      field: 'days',
      suggestion: 'Give for example 7',
    })
  await recover(root)
  const going = await findEnded(listRuns(root), now - days * DAY_MS)
  const bytes = new Map<string, number>()
  for (const { run } of going) bytes.set(run.id, await bytesOf(run.paths.folder))
  const { removed, errors } = await removeAll(root, going)
  if (removed.length === 0 && errors[0]) throw errors[0]
  return {
    removed: removed.length,
    bytes: removed.reduce((sum, id) => sum + (bytes.get(id) ?? 0), 0),
  }
}
