import type { AsyncLocalStorage } from 'node:async_hooks'
import type { ToolError } from '../contract/tool-error.ts'
import { host } from './host.ts'

/** Something that belongs to a call and ends with it. */
export type Ending = {
  readonly isOver: boolean
  /** It ended, and nothing of it stayed. */ readonly isLost: boolean
}

/** Where code is at work: in the handler of a call, or in something of the host that a handler waits for. */
export type Place<Work extends Ending = Ending> = {
  /** The call whose code this is; undefined for code of the host. */
  readonly call: { fail(error: ToolError): void } | undefined
  /** What the call has open that calls inside it become part of. */
  work: Work | undefined
  readonly outer: Place<Work> | undefined
}

let places: AsyncLocalStorage<Place> | undefined
let only: Place | undefined
let isOnlyOneExpected = false

/** Says that this process makes one call and ends: all code that is in no other place belongs to it. Following it costs several milliseconds, and there is nothing to tell it from. */
export function expectOneCall(): void {
  isOnlyOneExpected = true
}

/** Runs something in a place of its own; `own` is what it needs besides, so that it can be the same function for every call. */
export function at<T, Own>(call: Place['call'], run: (own: Own) => T, own: Own): T {
  if (isOnlyOneExpected && call) {
    isOnlyOneExpected = false
    only = { call, work: undefined, outer: undefined }
    return run(own)
  }
  places ??= host.localStorage<Place>()
  return places.run(
    { call, work: undefined, outer: call ? keptPlace(here()) : openPlace(here()) },
    run,
    own,
  )
}

/** Where we are. */
export function here(): Place | undefined {
  return places?.getStore() ?? only
}

/** True in a place that other code of the process has to be told from. */
export function isInside(): boolean {
  return places?.getStore() !== undefined
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
  return kept?.work?.isLost
    ? { call: kept.call, work: kept.work, outer: openPlace(kept.outer) }
    : kept
}
