/**
 * The two time limits of an attempt: the deadline and the longest silence. Both are paused while a
 * question is open.
 */

import { MAX_TIMER_MS } from '../util/units.ts'
/** The two time limits of an attempt. Timers drive them, never what a tool writes. */
export type AttemptClock = {
  /** The tool gave a sign of life. */
  recordActivity(): void
  /** From now on silence counts: the tool speaks the protocol. */
  requireHeartbeats(): void
  /** A question is open: neither limit runs. */
  pause(): void
  /** The question is answered: the deadline continues, and silence counts from now. */
  resume(): void
  stop(): void
}

export type AttemptClockOptions = {
  /** Seconds; undefined: none. */
  readonly deadline: number | undefined
  /** Seconds of silence that a tool of the protocol may keep. */
  readonly grace: number
  readonly onDeadline: () => void
  readonly onSilence: () => void
}

/** Starts the clock of an attempt. It is monotonic: setting the machine's clock ends nothing. */
export function startAttemptClock({
  deadline,
  grace,
  onDeadline,
  onSilence,
}: AttemptClockOptions): AttemptClock {
  let left = (deadline ?? Infinity) * 1000
  let since = performance.now()
  let lastBeat = since
  let bound = false
  let paused = false
  let stopped = false
  let deadlineTimer: NodeJS.Timeout | undefined
  let silenceTimer: NodeJS.Timeout | undefined

  const getTimeLeft = (): number => left - (performance.now() - since)
  const runDeadline = (): void => {
    if (deadline === undefined) return
    deadlineTimer = setTimeout(
      () => (getTimeLeft() > 0 ? runDeadline() : onDeadline()),
      clampTimerMs(getTimeLeft()),
    )
  }
  // One timer that checks the last sign of life, not one per line: a flood costs nothing.
  const getSilenceLeft = (): number => lastBeat + grace * 1000 - performance.now()
  const runSilence = (): void => {
    silenceTimer = setTimeout(
      () => (getSilenceLeft() > 0 ? runSilence() : onSilence()),
      clampTimerMs(getSilenceLeft()),
    )
  }
  const halt = (): void => {
    clearTimeout(deadlineTimer)
    clearTimeout(silenceTimer)
  }
  const start = (): void => {
    since = performance.now()
    lastBeat = since
    runDeadline()
    if (bound) runSilence()
  }
  start()

  return {
    recordActivity: () => {
      lastBeat = performance.now()
    },
    requireHeartbeats() {
      if (bound) return
      bound = true
      lastBeat = performance.now()
      if (!paused && !stopped) runSilence()
    },
    pause() {
      if (paused || stopped) return
      paused = true
      left -= performance.now() - since
      halt()
    },
    resume() {
      if (!paused || stopped) return
      paused = false
      start()
    },
    stop() {
      stopped = true
      halt()
    },
  }
}

function clampTimerMs(milliseconds: number): number {
  return Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil(milliseconds)))
}
