import { formatAgo, formatDuration } from '../../../src/views/model/format.ts'
import { now } from '../state/clock.ts'
import { utc } from '../state/preferences.ts'
import { Dash } from './table.tsx'

type Moment = string | number | undefined

/** How long ago something was, kept true; the whole time on hover. */
export function Ago({ at }: { readonly at: Moment }) {
  const time = toTime(at)
  if (time === undefined) return <Dash />
  return (
    <time dateTime={new Date(time).toISOString()} title={timeText(time)}>
      {formatAgo(Math.min(time, now.value), now.value)}
    </time>
  )
}

/** How long something took. */
export function Took({ seconds }: { readonly seconds: number | undefined }) {
  return seconds === undefined ? <Dash /> : <span class="number">{formatDuration(seconds)}</span>
}

/** How long something has been going on, kept true. */
export function Since({ at }: { readonly at: Moment }) {
  const time = toTime(at)
  return time === undefined ? (
    <Dash />
  ) : (
    <Took seconds={Math.max(0, Math.floor((now.value - time) / 1000))} />
  )
}

/** How long something took, in milliseconds, or has been going on. */
export function Span({
  span: { began, ended },
}: {
  readonly span: { readonly began?: number; readonly ended?: number }
}) {
  if (began === undefined || ended === undefined) return <Since at={began} />
  return <Took seconds={(ended - began) / 1000} />
}

/** How long it is until something happens, kept true; `over` is said when it should have. */
export function Until({ at, over = 'now' }: { readonly at: Moment; readonly over?: string }) {
  const time = toTime(at)
  if (time === undefined) return <Dash />
  const left = Math.ceil((time - now.value) / 1000)
  return (
    <time
      class={left < 60 ? 'number warn' : 'number'}
      dateTime={new Date(time).toISOString()}
      title={timeText(time)}
    >
      {left <= 0 ? over : formatDuration(left)}
    </time>
  )
}

/** A time as it is, in the zone that was chosen. */
export function At({ at }: { readonly at: Moment }) {
  const time = toTime(at)
  return time === undefined ? (
    <Dash />
  ) : (
    <time class="number" dateTime={new Date(time).toISOString()}>
      {timeText(time)}
    </time>
  )
}

/** A time as text, in the zone that was chosen; `seconds: 3` adds milliseconds. */
export function timeText(at: string | number, seconds: 0 | 3 = 0): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return String(at)
  const shifted = utc.value ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  const text = shifted.toISOString()
  return `${text.slice(0, 10)} ${text.slice(11, seconds === 3 ? 23 : 19)}${utc.value ? ' UTC' : ''}`
}

function toTime(at: Moment): number | undefined {
  const time = typeof at === 'string' ? Date.parse(at) : at
  return time === undefined || Number.isNaN(time) ? undefined : time
}
