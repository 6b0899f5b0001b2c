import type * as Engine from './engine.ts'

let engine: typeof Engine | undefined

/** The part that makes calls; a promise only the first time. */
export function loadEngine(): typeof Engine | Promise<typeof Engine> {
  return engine ?? import('./engine.ts').then((loaded) => (engine = loaded))
}
