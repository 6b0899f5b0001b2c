import type { SubjectListener } from '../../../runner/attempt/subject.ts'
import type { RunPaths } from '../../../runner/folder/run-paths.ts'
import { readBatches } from '../../../runner/log/read-log.ts'
import type { ToolLine } from '../../../runner/output/judge-line.ts'
import type { TaskRecord } from './wire.ts'

/** Tells of tasks that workers perform. */
export type TaskTeller = {
  /** The last change that was told. */ readonly seen: number
  /** True where there was something to tell. */ tell(tasks: readonly TaskRecord[]): boolean
}

/** Tells each thing about a task once, in the lines of the run protocol: what an attempt before has told is on record. */
export async function tellTasks(
  { events }: RunPaths,
  listener: Pick<SubjectListener, 'onLine'>,
): Promise<TaskTeller> {
  const told = new Set<string>()
  for await (const batch of readBatches(events))
    for (const event of batch) if (event.type.startsWith('task_')) told.add(nameOf(event))
  let seen = 0
  const tell = (line: ToolLine): void => {
    if (told.has(nameOf(line))) return
    told.add(nameOf(line))
    listener.onLine(line)
  }
  return {
    get seen() {
      return seen
    },
    tell(tasks) {
      for (const record of tasks) {
        for (const line of linesOf(record)) tell(line)
        seen = Math.max(seen, record.change)
      }
      return tasks.length > 0
    },
  }
}

function linesOf({ task, call, status, run_id, error }: TaskRecord): readonly ToolLine[] {
  const child = run_id === undefined ? {} : { child_run_id: run_id }
  const begun: ToolLine[] = [
    {
      type: 'task_submitted',
      task_id: task,
      payload:
        call.command === undefined ? { tool: call.tool, ...call.given } : { command: call.command },
    },
    { type: 'task_started', task_id: task },
  ]
  return status === 'running'
    ? begun
    : [
        ...begun,
        {
          type: 'task_done',
          task_id: task,
          ...child,
          status,
          ...(error && { child_result: { status: 'error', error } }),
        },
      ]
}

function nameOf(line: { readonly type: string; readonly [field: string]: unknown }): string {
  return `${line.type} ${String(line['task_id'])}`
}
