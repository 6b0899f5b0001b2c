import { ownPid, sendSignal } from './host.ts'
import type { KnownProcess } from './process-table.ts'
import { isStillThere, listDescendants, listHolders } from './process-table.ts'

const ROUNDS = 5

/** Kills those that were warned and are still the same processes. */
export function killKnown(known: readonly KnownProcess[]): void {
  for (const one of known) if (isStillThere(one)) sendSignal(one.pid, 'SIGKILL')
}

/** Kills the whole tree, and looks again, because it may have forked meanwhile. */
export function killTree(leader: number): void {
  const known = new Set<number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh = listDescendants(leader).filter(({ pid }) => !known.has(pid))
    if (round === 0 && !sendSignal(-leader, 'SIGKILL')) sendSignal(leader, 'SIGKILL')
    if (fresh.length === 0) return
    for (const { pid } of fresh) {
      known.add(pid)
      sendSignal(pid, 'SIGKILL')
    }
  }
}

/** Kills what still holds the pipes of a child that is over: a daemon that left group and session. */
export function killHolders(descriptors: readonly string[]): void {
  for (const pid of descriptors.length === 0 ? [] : listHolders(descriptors))
    if (pid !== ownPid()) sendSignal(pid, 'SIGKILL')
}
