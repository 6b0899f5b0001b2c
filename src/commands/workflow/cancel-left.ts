import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { claim } from '../../runner/folder/lock.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { performRun } from '../../runner/perform-run.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { openJournal } from '../../workflow/engines/embedded/journal/open-journal.ts'
import { findEnd } from '../../workflow/run/execution-records.ts'
import { JOURNAL } from '../../workflow/run/read-run-journal.ts'
import { withRegistryOf } from '../run/registry-of.ts'

/** Goes on with a workflow that was told to take back what it did; it is claimed by this process. */
export type TakeBack = (paths: RunPaths, request: RunRequest) => Promise<unknown>

/** Lets this process take it back, and waits for the end. */
export function takeBackHere({
  env,
  signal,
}: {
  readonly env: { readonly [name: string]: string | undefined }
  readonly signal: AbortSignal
}): TakeBack {
  return (paths, request) =>
    withRegistryOf(request, paths, { env, now: Date.now }, (performer) =>
      performRun(paths, request, { env, channels: [], signal, resumedBy: 'resume', ...performer }),
    )
}

/** Cancels a workflow that nobody performs and that has not come to its end: what it did is taken back. False where it has come to its end. Throws CONFLICT where somebody goes on with it. */
export async function cancelLeft(
  paths: RunPaths,
  request: RunRequest,
  reason: string | undefined,
  takeBack: TakeBack,
): Promise<boolean> {
  const letGo = claim(paths)
  try {
    if (!(await writeDown(paths, reason ?? 'cancelled'))) return (letGo(), false)
  } catch (error) {
    letGo()
    throw error
  }
  await rm(paths.cancel, { force: true })
  await takeBack(paths, request)
  return true
}

async function writeDown(paths: RunPaths, reason: string): Promise<boolean> {
  const journal = await openJournal(join(paths.folder, JOURNAL))
  try {
    // What never began has nothing to take back, and nothing to say.
    if (journal.records.length === 0 || findEnd(journal.records, paths.id)) return false
    if (!journal.records.some(({ t }) => t === 'cancel'))
      journal.append({ t: 'cancel', w: paths.id, reason })
    await journal.synced()
    return true
  } finally {
    await journal.close()
  }
}
