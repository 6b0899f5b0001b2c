import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { claim } from '../../runner/folder/lock.ts'
import { runPaths } from '../../runner/folder/run-paths.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import { openJournal } from '../engines/embedded/journal/open-journal.ts'
import { adoptOrphan } from '../engines/embedded/light/adopt-orphan.ts'
import type { Adopted } from '../engines/embedded/light/adopt-orphan.ts'
import { makeWorkflowRequest } from './make-workflow-request.ts'
import type { WorkflowOptions } from './make-workflow-request.ts'
import { JOURNAL } from './read-run-journal.ts'

/** Makes a run of an execution whose process is gone, claimed by this process, with everything that is on record of it. `check` may refuse it, and then it stays as it was. Throws CONFLICT where somebody else has it, NOT_FOUND. */
export async function adoptExecution(
  root: string,
  id: string,
  options: WorkflowOptions,
  check: (adopted: Adopted) => Promise<void>,
): Promise<RunPaths> {
  const adopted = await adoptOrphan(root, id)
  try {
    await check(adopted)
    const request = {
      ...makeWorkflowRequest(id, adopted.definition, adopted.begin.i as JsonObject, options),
      created: adopted.begin.at,
    }
    const paths = makeFolder(root, request)
    await copyRecords(paths, adopted)
    await adopted.moved()
    return paths
  } catch (error) {
    await adopted.release().catch(() => undefined)
    throw error
  }
}

// A folder that is there already was made by whoever died while he adopted it: nobody performs it before it has moved.
function makeFolder(root: string, request: ReturnType<typeof makeWorkflowRequest>): RunPaths {
  try {
    return createRun(root, request)
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'CONFLICT') throw error
    const paths = runPaths(root, request.run_id)
    claim(paths)
    rmSync(join(paths.folder, JOURNAL), { force: true })
    return paths
  }
}

async function copyRecords(
  { folder }: RunPaths,
  { begin, definition, records }: Adopted,
): Promise<void> {
  const journal = await openJournal(join(folder, JOURNAL))
  try {
    journal.append({ t: 'define', h: begin.h, d: definition })
    journal.append(begin)
    for (const record of records) journal.append(record)
    await journal.synced()
  } finally {
    await journal.close()
  }
}
