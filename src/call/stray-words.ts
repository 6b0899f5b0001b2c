import type { AsyncLocalStorage } from 'node:async_hooks'
import { host } from './host.ts'

/** Hears what handlers and their libraries write to the streams of the process; false where it listens no longer. */
export type StrayListener = (bytes: Uint8Array) => boolean

let places: AsyncLocalStorage<StrayListener> | undefined
let everywhere: StrayListener | undefined

/** Has somebody hear what is written by this work and by all that comes of it, whatever else goes on in the process. */
export function hearStray<T>(listener: StrayListener, work: () => T): T {
  places ??= host.localStorage<StrayListener>()
  return places.run(listener, work)
}

/** Has somebody hear what nobody else hears, until the function that it gives is called. */
export function hearOtherStray(listener: StrayListener): () => void {
  const before = everywhere
  everywhere = listener
  return () => {
    if (everywhere === listener) everywhere = before
  }
}

/** Tells whoever listens here; false where nobody does. */
export function tellStray(bytes: Uint8Array): boolean {
  return places?.getStore()?.(bytes) === true || everywhere?.(bytes) === true
}
