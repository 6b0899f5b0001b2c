import type { RunState } from '../../contract/run-state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { findEnd } from './execution-records.ts'
import { readRunJournal } from './read-run-journal.ts'

/** Refuses to go on with a workflow that came to its end: what it did is taken back, or done. Throws PRECONDITION. */
export async function checkResumable(
  paths: RunPaths,
  { state, code }: { readonly state: RunState; readonly code: string | undefined },
): Promise<void> {
  if (await isResumable(paths, code)) return
  throw new ToolError(
    'PRECONDITION',
    `the workflow ${paths.id} has come to its end: it is ${state}`,
    { suggestion: `See toolable runs show ${paths.id}, and start it anew: toolable workflow run` },
  )
}

/** Whether a workflow that is not completed can go on, by the code of its error. */
export async function isResumable(paths: RunPaths, code: string | undefined): Promise<boolean> {
  // Its end may be in the journal and not on the record yet: then there is something to finish.
  return code === 'E_INTERRUPTED' || !findEnd(await readRunJournal(paths), paths.id)
}
