import { isFinished } from '../../../src/protocol/run-state.ts'
import type { RunRow } from '../../../src/views/model/api.ts'
import { formatDuration } from '../../../src/views/model/format.ts'
import { now } from '../state/clock.ts'
import { Since, Took } from './time.tsx'

/** How long a run took, or how long it has been running. */
export function RunTime({ row }: { readonly row: RunRow }) {
  return isFinished(row.state) || row.started === undefined ? (
    <Took seconds={row.duration_s} />
  ) : (
    <Since at={row.started} />
  )
}

/** The last thing that a run said; of a failed one, what went wrong. */
export function LastWords({ row }: { readonly row: RunRow }) {
  if (row.state !== 'failed' || row.code === undefined)
    return (
      <span class="words" title={row.last}>
        {row.last ?? ''}
      </span>
    )
  return (
    <span class="words" title={row.message}>
      <code class="bad">{row.code}</code> {row.message ?? ''}
    </span>
  )
}

/** A bar, only for a true percentage. */
export function Bar({
  percent,
  label = 'Progress',
}: {
  readonly percent: number | undefined
  readonly label?: string
}) {
  if (percent === undefined) return null
  return (
    <span
      class="bar"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
    >
      <span class="filled" style={{ width: `${percent}%` }} />
      <span class="number">{Math.round(percent)} %</span>
    </span>
  )
}

/** How long a run has been silent: a warning at half of what it may, bad past it. */
export function Heartbeat({
  heard,
  grace,
}: {
  readonly heard: string | number | undefined
  readonly grace: number | undefined
}) {
  if (heard === undefined) return <span class="heartbeat dim">♥ –</span>
  const silence = Math.max(0, Math.floor((now.value - new Date(heard).getTime()) / 1000))
  const role = heartbeatRole(silence, grace)
  const text = silence < 2 ? 'now' : `${formatDuration(silence)} ago`
  const title =
    grace === undefined
      ? 'heard of last'
      : `heard of last; it may be silent for ${formatDuration(grace)}`
  return (
    <span class={`heartbeat ${role}`} title={title}>
      <span aria-hidden="true">♥</span> <span class="hidden">last heartbeat </span>
      <span class="number">{text}</span>
      {role === 'bad' && <strong> too silent</strong>}
    </span>
  )
}

function heartbeatRole(silence: number, grace: number | undefined): 'dim' | 'bad' | 'warn' | 'ok' {
  if (grace === undefined) return 'dim'
  if (silence > grace) return 'bad'
  return silence >= grace / 2 ? 'warn' : 'ok'
}
