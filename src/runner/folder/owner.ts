import { readFileSync, readlinkSync } from 'node:fs'
import { host } from '../../call/host.ts'
import { isObject, parseObject } from '../../contract/json.ts'
import { isLinux, ownPid } from '../../process/host.ts'
import { identify, isStillThere } from '../../process/process-table.ts'
import type { KnownProcess } from '../../process/process-table.ts'

/** Who runs a run, as its lock tells: the process, where its number means something, and what it has started. */
export type Owner = KnownProcess & {
  readonly machine: string
  /** Differs after a restart of the machine. */
  readonly boot: string
  /** Numbers of processes are counted anew in every namespace. */
  readonly namespace: string
  /** It has the run, but does not run it yet. */
  readonly claim?: true
  readonly children: readonly KnownProcess[]
}

/** How far the owner of a run can be seen from here. `elsewhere`: on another machine or in another container. */
export type Sight = 'alive' | 'dead' | 'elsewhere'

/** This process as an owner. */
export function ourselves(): Owner {
  const pid = ownPid()
  return { pid, start: identify(pid)?.start ?? '', ...place(), children: [] }
}

/** Whether an owner is this very process. */
export function isUs({ pid, start, machine, boot, namespace }: Owner): boolean {
  const us = ourselves()
  return pid === us.pid && start === us.start && machine === us.machine && boot === us.boot && namespace === us.namespace
}

/** Reads the text of a lock; undefined for anything that nobody could have written. */
export function readOwner(text: string): Owner | undefined {
  const value = parseObject(text)
  if (!value || !isProcess(value)) return undefined
  const { machine, boot, namespace, children } = value as { readonly [field: string]: unknown }
  if (typeof machine !== 'string' || typeof boot !== 'string' || typeof namespace !== 'string' || !Array.isArray(children)) return undefined
  return { pid: value.pid, start: value.start, machine, boot, namespace, ...((value as { claim?: unknown }).claim === true && { claim: true }), children: children.filter(isProcess) }
}

/** Whether the owner of a run still lives. */
export function look(owner: Owner): Sight {
  const here = place()
  if (owner.machine !== here.machine) return 'elsewhere'
  if (owner.boot !== here.boot) return 'dead'
  if (owner.namespace !== here.namespace) return 'elsewhere'
  return (isLinux ? isStillThere(owner) : host.isAlive(owner.pid)) ? 'alive' : 'dead'
}

/** Those of its children that still live and are the same processes. */
export function leftBehind(owner: Owner): readonly KnownProcess[] {
  const here = place()
  return owner.machine === here.machine && owner.boot === here.boot && owner.namespace === here.namespace ? owner.children.filter(isStillThere) : []
}

function isProcess(value: unknown): value is KnownProcess {
  // 0 and 1 would mean our own group, and everybody.
  return isObject(value) && Number.isSafeInteger(value['pid']) && (value['pid'] as number) > 1 && typeof value['start'] === 'string'
}

let known: Pick<Owner, 'machine' | 'boot' | 'namespace'> | undefined

function place(): Pick<Owner, 'machine' | 'boot' | 'namespace'> {
  return (known ??= { machine: tell('/proc/sys/kernel/hostname'), boot: tell('/proc/sys/kernel/random/boot_id'), namespace: tellLink('/proc/self/ns/pid') })
}

function tell(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim()
  } catch {
    return ''
  }
}

function tellLink(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
