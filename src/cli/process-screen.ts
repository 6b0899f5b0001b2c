import type { Screen } from '../protocol/io.ts'

const TERMINATION_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/**
 * Long enough for a stop to have happened; while the process is stopped this time does not pass.
 */
const RESUME_DELAY_MS = 50
const DEFAULT_ROWS = 24

/** The terminal of this process. It listens to signals only while something is drawn. */
export function createProcessScreen(): Screen {
  return {
    get columns() {
      return getSmallest(readTerminalSize().columns, Number(process.env['COLUMNS'])) ?? 80
    },
    get rows() {
      return getSmallest(readTerminalSize().rows) ?? DEFAULT_ROWS
    },
    onStop,
    onLeave(listener) {
      process.on('exit', listener)
      const endings = TERMINATION_SIGNALS.map(
        (signal) =>
          [
            signal,
            () => {
              listener()
              // No other listener: do what the signal does by default.
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

// Node updates the size on a signal, which may come later than the next frame.
function readTerminalSize(): { readonly columns?: number; readonly rows?: number } {
  const stream: NodeJS.WriteStream & { _refreshSize?(): void } = process.stderr
  stream._refreshSize?.()
  return stream
}

function getSmallest(...sizes: readonly (number | undefined)[]): number | undefined {
  const known = sizes.filter(
    (size): size is number => size !== undefined && Number.isInteger(size) && size > 0,
  )
  return known.length === 0 ? undefined : Math.min(...known)
}

type StopListener = { readonly before: () => void; readonly after: () => void }
const stopListeners = new Set<StopListener>()

// Ctrl-Z: notify, stop as the signal does by default, and notify again when the process continues.
// Without a shell that could continue it, the system does not stop it either.
function onStop(before: () => void, after: () => void): () => void {
  const stop = { before, after }
  if (stopListeners.size === 0) process.on('SIGTSTP', handleStop)
  stopListeners.add(stop)
  return () => {
    stopListeners.delete(stop)
    if (stopListeners.size === 0) process.off('SIGTSTP', handleStop)
  }
}

function handleStop(): void {
  for (const { before } of stopListeners) before()
  process.off('SIGTSTP', handleStop)
  process.kill(process.pid, 'SIGTSTP')
  setTimeout(() => {
    if (stopListeners.size > 0) process.on('SIGTSTP', handleStop)
    for (const { after } of stopListeners) after()
  }, RESUME_DELAY_MS).unref()
}
