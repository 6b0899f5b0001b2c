import type { Settled } from '../engines/engine-type.ts'
import { reasonOf } from './step-error.ts'

type Work = { readonly settled: Promise<Settled>; readonly stop: AbortController; waiting: number }

// One table for the process: two engines over one folder may be asked for the same step.
const working = new Map<string, Work>()

/** Does work once for everybody who asks for it at the same time under one key. It is ended when nobody wants it any more; whoever leaves others behind does not wait for its end. */
export async function joinWork(
  key: string,
  signal: AbortSignal,
  begin: (signal: AbortSignal) => Promise<Settled>,
): Promise<Settled> {
  if (signal.aborted) return { ok: false, error: reasonOf(signal) }
  const work = working.get(key) ?? open(key, begin)
  work.waiting += 1
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      work.waiting -= 1
      if (work.waiting === 0) work.stop.abort(signal.reason)
      else resolve({ ok: false, error: reasonOf(signal) })
    }
    signal.addEventListener('abort', leave, { once: true })
    void work.settled
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', leave))
  })
}

function open(key: string, begin: (signal: AbortSignal) => Promise<Settled>): Work {
  const stop = new AbortController()
  const settled = begin(stop.signal).finally(() => {
    if (working.get(key) === work) working.delete(key)
  })
  const work: Work = { settled, stop, waiting: 0 }
  working.set(key, work)
  return work
}
