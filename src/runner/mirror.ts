/** Characters that may wait for whoever looks on, before the tool is held back. */
const MOST_WAITING = 1024 * 1024

/** Shows what is recorded to whoever looks on, in order, at his pace. */
export type Mirror = {
  take(lines: string): void
  /** A promise while too much waits. */
  room(): Promise<void> | undefined
  /** From now on nobody is held back: the tool is being ended, however slow the one is who looks on. */
  hurry(): void
  /** Resolves when everything was shown, or nobody looks any more. */
  empty(): Promise<void>
}

/** A mirror in front of a listener; one that fails is one who has gone away. */
export function createMirror(show: ((lines: string) => void | Promise<void>) | undefined): Mirror {
  let shown: Promise<void> = Promise.resolve()
  let waiting = 0
  let gone = show === undefined
  let hurried = false
  let held: { readonly until: Promise<void>; readonly letGo: () => void } | undefined

  const letGo = (): void => {
    held?.letGo()
    held = undefined
  }
  const settle = (length: number): void => {
    waiting -= length
    if (waiting < MOST_WAITING) letGo()
  }
  return {
    take(lines) {
      if (gone) return
      waiting += lines.length
      shown = shown
        .then(() => (gone ? undefined : show!(lines)))
        .catch(() => {
          gone = true
        })
        .then(() => settle(lines.length))
    },
    room() {
      if (hurried || waiting < MOST_WAITING) return undefined
      return (held ??= hold()).until
    },
    hurry() {
      hurried = true
      letGo()
    },
    empty: () => shown,
  }
}

function hold(): { readonly until: Promise<void>; readonly letGo: () => void } {
  let letGo: () => void = () => undefined
  const until = new Promise<void>((resolve) => {
    letGo = resolve
  })
  return { until, letGo }
}
