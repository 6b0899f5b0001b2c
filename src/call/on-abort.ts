import type { Stopping } from './cancellation.ts'

type Listening = {
  readonly reactions: Set<{ readonly react: () => void }>
  readonly listener: () => void
}

const listenings = new WeakMap<AbortSignal, Listening>()

/** Calls `react` when the signal aborts; gives the function that stops it. However many wait, a signal has one listener of ours, and none when nobody waits: more than ten would be a warning. */
export function onAbort(signal: Stopping, react: () => void): () => void {
  // Told by its form: a server may be of another copy of this package.
  if ('onCancel' in signal) return signal.onCancel(react)
  const { reactions } = listenings.get(signal) ?? listen(signal)
  const reaction = { react }
  reactions.add(reaction)
  return () => {
    reactions.delete(reaction)
    if (reactions.size === 0) forget(signal)
  }
}

function listen(signal: AbortSignal): Listening {
  const reactions: Listening['reactions'] = new Set()
  const listener = (): void => {
    forget(signal)
    for (const { react } of [...reactions]) react()
  }
  const listening = { reactions, listener }
  listenings.set(signal, listening)
  signal.addEventListener('abort', listener, { once: true })
  return listening
}

function forget(signal: AbortSignal): void {
  const listening = listenings.get(signal)
  if (!listening) return
  signal.removeEventListener('abort', listening.listener)
  listenings.delete(signal)
}
