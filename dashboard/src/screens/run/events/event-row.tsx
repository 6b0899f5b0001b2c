import type { RunEvent } from '../../../../../src/protocol/run-state.ts'
import { stripAnsi } from '../../../../../src/views/model/ansi.ts'
import { formatDuration } from '../../../../../src/views/model/format.ts'
import { toEventText } from '../../../../../src/views/model/event-text.ts'
import { timeText } from '../../../parts/time.tsx'

const ROLES: { readonly [type: string]: string } = {
  error: 'bad',
  runner_error: 'bad',
  task_error: 'bad',
  runner_warning: 'warn',
  diagnostic: 'warn',
  action_required: 'warn',
  result: 'ok',
  artifact: 'accent',
  progress: 'run',
}

type Props = {
  readonly event: RunEvent | undefined
  readonly before: RunEvent | undefined
  readonly selected: boolean
  onOpen(event: RunEvent): void
}

/**
 * A line of the record: its number, when it was and how long after the one before, what it is,
 * whose it is, what it says.
 */
export function EventRow({ event, before, selected, onOpen }: Props) {
  if (!event) return <span class="event dim">…</span>
  const delta = before && (Date.parse(event.ts) - Date.parse(before.ts)) / 1000
  const step = event['step'] ?? event['task_id']
  const { level } = event
  const role =
    event.type === 'log'
      ? level === 'error'
        ? 'bad'
        : level === 'warn' || level === 'warning'
          ? 'warn'
          : ''
      : (ROLES[event.type] ?? '')
  return (
    <button
      type="button"
      class={`event quiet ${selected ? 'selected' : ''}`}
      aria-expanded={selected}
      onClick={() => onOpen(event)}
    >
      <span class="seq number">{event.seq}</span>
      <span class="at number" title={timeText(event.ts, 3)}>
        {timeText(event.ts, 3).slice(11, 23)}
      </span>
      <span class="delta number">
        {delta !== undefined && delta >= 0 ? `+${formatDuration(delta)}` : ''}
      </span>
      <span class={`type ${role}`}>{event.type}</span>
      <span class="step">{typeof step === 'string' ? step : ''}</span>
      <span class="text">
        {stripAnsi(toEventText({ ...event, step: undefined, task_id: undefined }))}
      </span>
    </button>
  )
}
