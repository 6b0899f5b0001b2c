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

/** Cancels a workflow that nobody performs and that has not come to its end: what it did is taken back, by an attempt of this process. False where it has come to its end. Throws CONFLICT where somebody goes on with it. */
export async function cancelLeft(paths: RunPaths, request: RunRequest, { env, signal }: { readonly env: { readonly [name: string]: string | undefined }; readonly signal: AbortSignal }): Promise<boolean> {
  const letGo = claim(paths)
  try {
    if (!(await writeDown(paths))) return (letGo(), false)
  } catch (error) {
    letGo()
    throw error
  }
  await rm(paths.cancel, { force: true })
  await withRegistryOf(request, paths, { env, now: Date.now }, (performer) => performRun(paths, request, { env, channels: [], signal, resumedBy: 'resume', ...performer }))
  return true
}

async function writeDown(paths: RunPaths): Promise<boolean> {
  const journal = await openJournal(join(paths.folder, JOURNAL))
  try {
    // What never began has nothing to take back, and nothing to say.
    if (journal.records.length === 0 || findEnd(journal.records, paths.id)) return false
    if (!journal.records.some(({ t }) => t === 'cancel')) journal.append({ t: 'cancel', w: paths.id, reason: 'cancelled' })
    await journal.synced()
    return true
  } finally {
    await journal.close()
  }
}
