import { join } from 'node:path'

/** Where everything of a run is. */
export type RunPaths = {
  readonly id: string
  readonly folder: string
  /** `run.json`. */
  readonly request: string
  readonly events: string
  readonly workspace: string
  readonly logs: string
  readonly stderr: string
  /** Where the tool may leave logs of its own. */
  readonly toolLogs: string
  /** What the runner tells the tool by files, and the file that says that it should stop. The folder of the run itself is not for its eyes. */
  readonly control: string
  readonly toolCancel: string
  readonly artifacts: string
  /** `<id of the question>.json` is an answer. */
  readonly answers: string
  /** Its presence asks the tool to stop. */
  readonly cancel: string
  readonly lock: string
}

/** The paths of a run whose id was checked. */
export function runPaths(root: string, id: string): RunPaths {
  const folder = join(root, id)
  const inside = (...names: readonly string[]): string => join(folder, ...names)
  return {
    id,
    folder,
    request: inside('run.json'),
    events: inside('events.jsonl'),
    workspace: inside('work'),
    logs: inside('logs'),
    stderr: inside('logs', 'stderr.log'),
    toolLogs: inside('work', '.logs'),
    control: inside('control'),
    toolCancel: inside('control', 'CANCEL'),
    artifacts: inside('artifacts'),
    answers: inside('answers'),
    cancel: inside('CANCEL'),
    lock: inside('lock'),
  }
}
