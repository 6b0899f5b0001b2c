import { existsSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { protocolName } from '../../../../contract/errors.ts'
import { lightPaths } from '../../../../workflow/engines/embedded/light/light-paths.ts'
import { listExecutions } from '../../../../workflow/engines/embedded/light/look-up.ts'
import type { Execution } from '../../../../workflow/engines/engine-type.ts'
import { toolNameOf } from '../../../../workflow/run/make-workflow-request.ts'
import type { RunRow } from '../../../model/wire/run-row.ts'
import { keepText } from '../row/keep-text.ts'
import type { RunIndex } from './run-index.ts'

// A program may execute thousands a second; lists show the newest.
const MOST = 2000
const SHORTEST_PAUSE_MS = 200
/** So many times longer than it takes to list them nobody looks again. */
const PATIENCE = 20
const LOOK_AGAIN_MS = 2000

/** Holds the rows of executions without a folder to what their files say. */
export type LightKeeper = { look(quietly?: boolean): Promise<void>; close(): void }

/** Makes a keeper; nothing is looked at before it is told to. */
export function keepLight(root: string, index: RunIndex): LightKeeper {
  const paths = lightPaths(root)
  let watcher: FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false
  let working: Promise<void> | undefined
  let pause = SHORTEST_PAUSE_MS
  let known = new Set<string>()

  const open = (): void => {
    try {
      watcher ??= watch(paths.folder, () => soon(pause)).on('error', () => {
        watcher?.close()
        watcher = undefined
      })
    } catch {
      /* it is not there yet */
    }
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
    const found = (await listExecutions(paths, new Map(), { limit: MOST })).filter(
      ({ id }) => !existsSync(`${root}/${id}`),
    )
    pause = Math.max(SHORTEST_PAUSE_MS, PATIENCE * (performance.now() - began))
    if (closed) return
    for (const execution of found)
      index.put({ row: rowOf(execution), changed: 0, planned: false, unscanned: false }, quietly)
    const now = new Set(found.map(({ id }) => id))
    for (const id of known) if (!now.has(id) && index.get(id)?.row.light) index.remove(id)
    known = now
    // Nobody tells of a process that dies.
    if (found.some(({ ended, state }) => ended === undefined && state !== 'failed'))
      soon(Math.max(pause, LOOK_AGAIN_MS))
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
export function rowOf({
  id,
  name,
  state,
  created,
  ended,
  error,
  questions = [],
}: Execution): RunRow {
  const seconds = ended === undefined ? NaN : (Date.parse(ended) - Date.parse(created)) / 1000
  return {
    run_id: id,
    tool: keepText(toolNameOf(name), 200),
    workflow: keepText(name, 200),
    state,
    attempt: 1,
    created,
    started: created,
    ...(ended !== undefined && { ended }),
    ...(seconds >= 0 && { duration_s: seconds }),
    ...(error && {
      code: protocolName(error.code, error.retryable),
      message: keepText(error.message, 160),
    }),
    questions: questions.length,
    artifacts: 0,
    light: true,
  }
}
