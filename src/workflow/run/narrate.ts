import type { SubjectListener } from '../../runner/attempt/subject.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { JournalRecord } from '../engines/embedded/journal/record.ts'
import type { WorkflowEvent } from '../engines/engine-type.ts'

/** Tells what happens to steps. */
export type Narrator = {
  event(event: WorkflowEvent, again: boolean): void
  /** That some of it happened before. */
  resumed(records: readonly JournalRecord[]): void
}

/** Puts what happens to the steps of a workflow on the record of its run: how far it is, by the steps at the top, and for each step when it began and how it went. What happened before a restart is on record already. */
export function narrate({ steps }: Workflow, listener: Pick<SubjectListener, 'onLine'>): Narrator {
  const top = new Map(steps.map(({ name }, index) => [name, index]))
  const done = new Set<string>()
  const log = (level: string, msg: string, step: string, more: object): void =>
    listener.onLine({ type: 'log', level, msg, step, ...more })
  return {
    resumed(records) {
      const known = records.filter(({ t }) => t === 'done').length
      if (known > 0)
        listener.onLine({
          type: 'log',
          level: 'info',
          msg: `${known} ${known === 1 ? 'operation is' : 'operations are'} on record, and not done again`,
        })
    },
    event(event, again) {
      if ((event.type === 'step_done' || event.type === 'step_skipped') && top.has(event.step))
        done.add(event.step)
      if (again) return
      if (event.type === 'step_start') {
        const index = top.get(event.step)
        if (index !== undefined)
          listener.onLine({
            type: 'progress',
            step: event.step,
            pct: Math.round((done.size / steps.length) * 1000) / 10,
            msg: `step ${index + 1}/${steps.length}: ${event.step}`,
          })
        log('debug', `${event.step} begins`, event.step, {
          step_state: 'running',
          kind: event.kind,
        })
      } else if (event.type === 'step_skipped')
        log('info', `${event.step} is skipped: its condition is not true`, event.step, {
          step_state: 'skipped',
        })
      else if (event.type === 'step_retry')
        log(
          'warn',
          `${event.step} failed, and is tried again in ${event.in_s} s: ${event.error.code} ${event.error.message}`,
          event.step,
          { step_state: 'retry', try: event.attempt },
        )
      else if (event.type === 'step_done')
        log(
          event.status === 'ok' ? 'debug' : 'warn',
          event.error
            ? `${event.step} failed: ${event.error.code} ${event.error.message}`
            : `${event.step} is done`,
          event.step,
          { step_state: event.status },
        )
      else
        log(
          'warn',
          `what was done is taken back, because it failed: ${event.error.code} ${event.error.message}`,
          '',
          { step_state: 'compensating' },
        )
    },
  }
}
