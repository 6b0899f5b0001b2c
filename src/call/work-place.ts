import type { AsyncLocalStorage } from 'node:async_hooks'
import type { ToolError } from '../contract/tool-error.ts'
import { host } from './host.ts'

/** Something that belongs to a call and ends with it. */
export type Ending = { readonly isOver: boolean; /** It ended, and nothing of it stayed. */ readonly isLost: boolean }

/** Where code is at work: in the handler of a call, or in something of the host that a handler waits for. */
export type Place<Work extends Ending = Ending> = {
  /** The call whose code this is; undefined for code of the host. */
  readonly call: { fail(error: ToolError): void } | undefined
  /** What the call has open that calls inside it become part of. */
  work: Work | undefined
  readonly outer: Place<Work> | undefined
}

let places: AsyncLocalStorage<Place> | undefined

/** Runs something in a place of its own; `own` is what it needs besides, so that it can be the same function for every call. */
export function at<T, Own>(call: Place['call'], run: (own: Own) => T, own: Own): T {
  places ??= host.localStorage<Place>()
  return places.run({ call, work: undefined, outer: call ? keptPlace(places.getStore()) : openPlace(places.getStore()) }, run, own)
}

/** Where we are. */
export function here(): Place | undefined {
  return places?.getStore()
}

// Places whose work is over are forgotten, or a chain of calls that start each other would be kept for ever.
function openPlace(place: Place | undefined): Place | undefined {
  let open = place
  while (open && (!open.work || open.work.isOver)) open = open.outer
  return open
}

// What a call left running when it failed has to know that; one such call is enough.
function keptPlace(place: Place | undefined): Place | undefined {
  let kept = place
  while (kept && (!kept.work || (kept.work.isOver && !kept.work.isLost))) kept = kept.outer
  return kept?.work?.isLost ? { call: kept.call, work: kept.work, outer: openPlace(kept.outer) } : kept
}
