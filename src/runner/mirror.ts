/** Characters that may wait for whoever looks on, before the tool is held back. */
const MOST_WAITING = 1024 * 1024

/** Shows what is recorded to whoever looks on, in order, at his pace. */
export type Mirror = {
  take(lines: string): void
  /** A promise while too much waits. */
  room(): Promise<void> | undefined
  /** Resolves when everything was shown, or nobody looks any more. */
  empty(): Promise<void>
}

/** A mirror in front of a listener; one that fails is one who has gone away. */
export function createMirror(show: ((lines: string) => void | Promise<void>) | undefined): Mirror {
  let shown: Promise<void> = Promise.resolve()
  let waiting = 0
  let gone = show === undefined
  return {
    take(lines) {
      if (gone) return
      waiting += lines.length
      shown = shown.then(() => (gone ? undefined : show!(lines))).catch(() => { gone = true }).then(() => { waiting -= lines.length })
    },
    room: () => (waiting < MOST_WAITING ? undefined : shown),
    empty: () => shown,
  }
}
