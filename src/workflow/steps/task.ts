import { isObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import type { Settled } from '../engines/engine-type.ts'
import type { EndedChild } from './look-at-child.ts'
import type { StepCall, StepHost } from './step-host.ts'
import { keyOfTry } from './step-names.ts'

/** A step as a task, in the words of the run protocol. */
export type Task = {
  submitted(): Promise<void>
  /** Told once, whoever started it. */
  started(): Promise<void>
  /** What its run says; only what matters to whoever looks at the whole is told. */
  heard(event: RunEvent): void | Promise<void>
  done(settled: Settled, child?: EndedChild): Promise<Settled>
}

const TOLD = ['progress', 'action_required', 'error']

/** Tells of a task that is a run. */
export function openTask({ tell }: StepHost, call: StepCall, runId: string): Task {
  const task = keyOfTry(call)
  const about = { task_id: task, child_run_id: runId }
  let isStarted = false
  let events = 0
  return {
    submitted: async () =>
      tell?.({
        type: 'task_submitted',
        task_id: task,
        payload:
          call.command === undefined
            ? { tool: call.tool, ...call.given }
            : { command: call.command },
      }),
    async started() {
      if (isStarted) return
      isStarted = true
      await tell?.({ type: 'task_started', ...about })
    },
    heard(event) {
      events += 1
      return TOLD.includes(event.type)
        ? tell?.({ type: `task_${event.type}`, ...about, child_event: event })
        : undefined
    },
    async done(settled, child) {
      const { summary } = child ?? {}
      await tell?.({
        type: 'task_done',
        ...about,
        status: settled.ok ? 'ok' : 'failed',
        child_result: settled.ok
          ? settled.value
          : { status: 'error', error: withoutRun(settled.error) },
        ...(summary?.rc !== undefined && { child_rc: summary.rc }),
        events_count: Math.max(events, summary?.events ?? 0),
      })
      return settled
    },
  }
}

function withoutRun(error: unknown): unknown {
  if (!isObject(error)) return error
  const { run_id: _run, ...rest } = error
  return rest
}
