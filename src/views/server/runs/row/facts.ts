import { statSync } from 'node:fs'
import { readRequest } from '../../../../runner/folder/open-run.ts'
import type { RunPaths } from '../../../../runner/folder/run-paths.ts'
import { LONGEST_QUESTION_S } from '../../../../runner/interactions/longest-question.ts'
import type { RunRequest } from '../../../../runner/run-request.ts'
import { keepText } from './keep-text.ts'

/** What of a request a row repeats, and what its clock depends on. Of bounded size. */
export type RunFacts = {
  readonly run_id: string
  readonly tool: string
  /** In the form of `toISOString`, so that texts sort like times. */
  readonly created: string
  readonly workflow?: string
  readonly caller?: string
  readonly parent?: { readonly run_id: string; readonly step: string }
  /** Seconds. */
  readonly timeout?: number
  /** Seconds of silence that it may keep, and whether they count before it speaks the protocol. */
  readonly grace?: number
  readonly owesBeats?: true
  /** Seconds that a question without a time of its own waits. */
  readonly patience?: number
}

/** What the folder of a run says was asked for; undefined where it is not whole yet. A `run.json` that nobody can read is a run all the same, of a tool that nobody knows. */
export function readFacts(paths: RunPaths): RunFacts | undefined {
  const stats = statSync(paths.request, { throwIfNoEntry: false })
  if (!stats) return undefined
  try {
    return factsOf(readRequest(paths), stats.mtimeMs)
  } catch {
    return { run_id: paths.id, tool: '?', created: new Date(stats.mtimeMs).toISOString() }
  }
}

/** What a row keeps of a request; `changed` is when it was written, for one that does not say when it was made. */
export function factsOf(request: RunRequest, changed: number): RunFacts {
  const {
    run_id,
    tool,
    created,
    command,
    workflow,
    parent,
    timeout_s,
    heartbeat_grace_s,
    call,
    caller,
  } = request
  const at = Date.parse(created)
  const isWorkflow = command === 'workflow'
  return {
    run_id,
    tool: keepText(tool, 200),
    created: new Date(Number.isNaN(at) ? changed : at).toISOString(),
    ...(isWorkflow && { workflow: keepText(String(workflow?.definition['name'] ?? tool), 200) }),
    ...(typeof caller === 'string' && caller !== '' && { caller: keepText(caller, 100) }),
    ...(parent && {
      parent: {
        run_id: keepText(String(parent.run_id), 20),
        step: keepText(String(parent.step), 200),
      },
    }),
    ...(typeof timeout_s === 'number' && { timeout: timeout_s }),
    // What is no program gives no signs of life that anybody counts.
    ...(call && typeof heartbeat_grace_s === 'number' && { grace: heartbeat_grace_s }),
    ...(call?.form === 'protocol' && { owesBeats: true }),
    ...(!isWorkflow && { patience: LONGEST_QUESTION_S }),
  }
}
