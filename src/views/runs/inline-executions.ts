/**
 * Executions of workflows that have no folder of their own, because a program executes them by
 * records in a journal.
 */

import { existsSync } from 'node:fs'
import { toProtocolCode } from '../../protocol/errors.ts'
import type { RunEvent } from '../../protocol/run-state.ts'
import { watchFolder } from '../../util/files.ts'
import { compact } from '../../util/values.ts'
import {
  findInlineExecution,
  listInlineExecutions,
} from '../../workflow/embedded/find-executions.ts'
import { getInlinePaths } from '../../workflow/embedded/segment-files.ts'
import type { ExecutionRecords } from '../../workflow/embedded/segment-reader.ts'
import type { Execution } from '../../workflow/engine.ts'
import { createInlineEvents } from '../../workflow/inline-run.ts'
import { toWorkflowToolName } from '../../workflow/request.ts'
import type { RunRow } from '../model/api.ts'
import type { RunIndex } from './run-index.ts'
import { internText } from './run-row.ts'

// A program may execute thousands a second; lists show the newest.
const MAX_EXECUTIONS = 2000
const MIN_PAUSE_MS = 200
/** The pause between two listings is this many times as long as a listing takes. */
const PAUSE_FACTOR = 20
const POLL_INTERVAL_MS = 2000

/** Holds the rows of executions without a folder to what their files say. */
type InlineExecutionTracker = { look(quietly?: boolean): Promise<void>; close(): void }

/** Creates a tracker; it reads nothing before `look` is called. */
export function trackInlineExecutions(root: string, index: RunIndex): InlineExecutionTracker {
  const paths = getInlinePaths(root)
  let watcher: ReturnType<typeof watchFolder>
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let working: Promise<void> | undefined
  let pause = MIN_PAUSE_MS
  let known = new Set<string>()

  const open = (): void => {
    watcher ??= watchFolder(paths.folder, () => soon(pause), {
      onError() {
        watcher?.close()
        watcher = undefined
      },
    })
  }
  const soon = (delay: number): void => {
    if (!closed)
      timer ??= setTimeout(() => {
        timer = undefined
        void look()
      }, delay).unref()
  }
  const work = async (quietly: boolean): Promise<void> => {
    if (!existsSync(paths.folder)) return
    open()
    const began = performance.now()
    const found = (await listInlineExecutions(paths, new Map(), { limit: MAX_EXECUTIONS })).filter(
      ({ id }) => !existsSync(`${root}/${id}`),
    )
    pause = Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (performance.now() - began))
    if (closed) return
    for (const execution of found)
      index.put({ row: toRunRow(execution), changed: 0, planned: false, unscanned: false }, quietly)
    const now = new Set(found.map(({ id }) => id))
    for (const id of known) if (!now.has(id) && index.get(id)?.row.light) index.remove(id)
    known = now
    // No file changes when a process dies.
    if (found.some(({ ended, state }) => ended === undefined && state !== 'failed'))
      soon(Math.max(pause, POLL_INTERVAL_MS))
  }
  const look = (quietly = false): Promise<void> =>
    (working ??= work(quietly)
      .catch(() => undefined)
      .finally(() => {
        working = undefined
      }))
  return {
    look,
    close() {
      closed = true
      clearTimeout(timer)
      watcher?.close()
    },
  }
}

/** The row of an execution that has no folder. */
function toRunRow({ id, name, state, created, ended, error, questions = [] }: Execution): RunRow {
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return compact({
    run_id: id,
    tool: internText(toWorkflowToolName(name), 200),
    workflow: internText(name, 200),
    state,
    attempt: 1,
    created,
    started: created,
    ended,
    duration_s: seconds >= 0 ? seconds : undefined,
    code: error && toProtocolCode(error.code, error.retryable),
    message: error && internText(error.message, 160),
    questions: questions.length,
    artifacts: 0,
    light: true,
  })
}

/** An execution without a folder, and its story as events. */
export type InlineExecution = {
  readonly execution: Execution
  readonly records: ExecutionRecords
  readonly events: readonly RunEvent[]
}

/** Reads an execution that has no folder; undefined where there is none. */
export async function readInlineExecution(
  root: string,
  id: string,
): Promise<InlineExecution | undefined> {
  const found = await findInlineExecution(getInlinePaths(root), id)
  if (!found) return undefined
  const records = found.records
  const told = createInlineEvents(id)
  const events = [records.begin, ...records.records].flatMap((record) => told.of(record))
  const isLeft = found.execution.error && found.execution.ended === undefined
  return {
    execution: found.execution,
    records,
    events: isLeft ? [...events, ...told.interrupted()] : events,
  }
}
