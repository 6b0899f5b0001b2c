import { host } from '../../call/host.ts'
import { distanceTo, ourPlace } from '../../call/place.ts'
import type { Place } from '../../call/place.ts'
import { isObject, parseObject } from '../../contract/json.ts'
import { isLinux, ownPid } from '../../process/host.ts'
import { identify, isStillThere } from '../../process/process-table.ts'
import type { KnownProcess } from '../../process/process-table.ts'

/** Who runs a run, as its lock tells: the process, where its number means something, and what it has started. */
export type Owner = KnownProcess &
  Place & {
    /** It has the run, but does not run it yet. */
    readonly claim?: true
    readonly children: readonly KnownProcess[]
  }

/** How far the owner of a run can be seen from here. `elsewhere`: on another machine or in another container. */
export type Sight = 'alive' | 'dead' | 'elsewhere'

/** This process as an owner. */
export function ourselves(): Owner {
  const pid = ownPid()
  return { pid, start: identify(pid)?.start ?? '', ...ourPlace(), children: [] }
}

/** Whether an owner is this very process. */
export function isUs({ pid, start, machine, boot, namespace }: Owner): boolean {
  const us = ourselves()
  return (
    pid === us.pid &&
    start === us.start &&
    machine === us.machine &&
    boot === us.boot &&
    namespace === us.namespace
  )
}

/** Reads the text of a lock; undefined for anything that nobody could have written. */
export function readOwner(text: string): Owner | undefined {
  const value = parseObject(text)
  if (!value || !isProcess(value)) return undefined
  const { machine, boot, namespace, children } = value as { readonly [field: string]: unknown }
  if (
    typeof machine !== 'string' ||
    typeof boot !== 'string' ||
    typeof namespace !== 'string' ||
    !Array.isArray(children)
  )
    return undefined
  return {
    pid: value.pid,
    start: value.start,
    machine,
    boot,
    namespace,
    ...((value as { claim?: unknown }).claim === true && { claim: true }),
    children: children.filter(isProcess),
  }
}

/** Whether the owner of a run still lives. */
export function look(owner: Owner): Sight {
  const distance = distanceTo(owner)
  if (distance !== 'here') return distance === 'gone' ? 'dead' : 'elsewhere'
  return (isLinux ? isStillThere(owner) : host.isAlive(owner.pid)) ? 'alive' : 'dead'
}

/** Those of its children that still live and are the same processes. */
export function leftBehind(owner: Owner): readonly KnownProcess[] {
  return distanceTo(owner) === 'here' ? owner.children.filter(isStillThere) : []
}

function isProcess(value: unknown): value is KnownProcess {
  // 0 and 1 would mean our own group, and everybody.
  return (
    isObject(value) &&
    Number.isSafeInteger(value['pid']) &&
    (value['pid'] as number) > 1 &&
    typeof value['start'] === 'string'
  )
}
