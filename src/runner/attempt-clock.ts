/**
 * The two time limits of an attempt: the deadline and the longest silence. Both are paused while a
 * question is open.
 */

/** The two limits of a run in time. Timers drive them, never what a tool says or does not say. */
export type AttemptClock = {
  /** The tool gave a sign of life. */
  recordActivity(): void
  /** From now on silence counts: the tool speaks the protocol. */
  requireHeartbeats(): void
  /** A question is open: neither limit runs. */
  pause(): void
  /**
   * The question is answered: what was left of the deadline goes on, and silence counts from here.
   */
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

/** The longest that a timer can wait; Node would fire at once beyond it. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * Starts the clock of an attempt. Time is monotonic: whoever sets the machine's clock ends nothing.
 */
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

  const runDeadline = (): void => {
    if (deadline === undefined) return
    const rest = left - (performance.now() - since)
    deadlineTimer = setTimeout(
      () => (left - (performance.now() - since) > 0 ? runDeadline() : onDeadline()),
      clampTimerMs(rest),
    )
  }
  // One timer that looks back, not one for each line: a flood costs nothing.
  const runSilence = (): void => {
    const rest = lastBeat + grace * 1000 - performance.now()
    silenceTimer = setTimeout(
      () => (lastBeat + grace * 1000 - performance.now() > 0 ? runSilence() : onSilence()),
      clampTimerMs(rest),
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
