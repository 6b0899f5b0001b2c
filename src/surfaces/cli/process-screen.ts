import type { Screen } from '../../contract/io.ts'

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** Long enough for a stop to have happened; while the process is stopped this time does not pass. */
const STOPPED_MS = 50
const FEWEST_ROWS = 24

/** The terminal of this process. Nothing is listened to before somebody wants to draw. */
export function processScreen(): Screen {
  return {
    get columns() {
      return narrowest(terminal().columns, Number(process.env['COLUMNS'])) ?? 80
    },
    get rows() {
      return narrowest(terminal().rows) ?? FEWEST_ROWS
    },
    onStop,
    onLeave(listener) {
      process.on('exit', listener)
      const endings = ENDING.map(
        (signal) =>
          [
            signal,
            () => {
              listener()
              // Nobody else wanted to hear of it: what would have happened without us happens.
              if (process.listenerCount(signal) === 1) raise(signal)
            },
          ] as const,
      )
      const raise = (signal: NodeJS.Signals): void => {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }
      // First, because the next one may end the process.
      for (const [signal, hear] of endings) process.prependListener(signal, hear)
      return () => {
        process.off('exit', listener)
        for (const [signal, hear] of endings) process.off(signal, hear)
      }
    },
  }
}

// Node asks only when a signal tells it to, which comes later than the next frame may.
function terminal(): { readonly columns?: number; readonly rows?: number } {
  const stream: NodeJS.WriteStream & { _refreshSize?(): void } = process.stderr
  stream._refreshSize?.()
  return stream
}

function narrowest(...sizes: readonly (number | undefined)[]): number | undefined {
  const known = sizes.filter(
    (size): size is number => size !== undefined && Number.isInteger(size) && size > 0,
  )
  return known.length === 0 ? undefined : Math.min(...known)
}

type Stop = { readonly before: () => void; readonly after: () => void }
const stops = new Set<Stop>()

// Ctrl-Z: tell, stop as if nobody listened, and tell again when it goes on. Where there is nobody to go on with it, the system does not stop it either.
function onStop(before: () => void, after: () => void): () => void {
  const stop = { before, after }
  if (stops.size === 0) process.on('SIGTSTP', hearStop)
  stops.add(stop)
  return () => {
    stops.delete(stop)
    if (stops.size === 0) process.off('SIGTSTP', hearStop)
  }
}

function hearStop(): void {
  for (const { before } of stops) before()
  process.off('SIGTSTP', hearStop)
  process.kill(process.pid, 'SIGTSTP')
  setTimeout(() => {
    if (stops.size > 0) process.on('SIGTSTP', hearStop)
    for (const { after } of stops) after()
  }, STOPPED_MS).unref()
}
