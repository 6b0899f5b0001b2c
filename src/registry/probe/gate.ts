import { availableParallelism } from 'node:os'

/** A place among those that may use a core. */
export type Slot = {
  /** Gives the core to somebody else while this one only waits. False when too many wait already. */
  stepAside(): boolean
  leave(): void
}

/** Lets a bounded number in at once, and some alone, when nobody else is inside or waiting. */
export type Gate = { enter(): Promise<Slot>; enterAlone(): Promise<Slot> }

const LARGEST_WAITING_ROOM = 32

/** A gate for that many cores. */
export function createGate(limit: number): Gate {
  const queue: (() => void)[] = []
  const loners: (() => void)[] = []
  let inside = 0
  let aside = 0
  let isTaken = false

  const admit = (): void => {
    while (!isTaken && inside < limit && queue.length > 0) {
      inside += 1
      queue.shift()!()
    }
    if (isTaken || inside > 0 || loners.length === 0) return
    isTaken = true
    loners.shift()!()
  }
  const enter = (line: (() => void)[]): Promise<void> =>
    new Promise((resolve) => {
      line.push(resolve)
      admit()
    })
  return {
    async enter() {
      await enter(queue)
      let place: 'inside' | 'aside' | 'left' = 'inside'
      return {
        stepAside() {
          if (place !== 'inside' || aside >= LARGEST_WAITING_ROOM) return false
          place = 'aside'
          aside += 1
          inside -= 1
          admit()
          return true
        },
        leave() {
          if (place === 'aside') aside -= 1
          else if (place === 'inside') inside -= 1
          place = 'left'
          admit()
        },
      }
    },
    async enterAlone() {
      await enter(loners)
      return {
        stepAside: () => false,
        leave() {
          isTaken = false
          admit()
        },
      }
    },
  }
}

const shared = new Map<number, Gate>()

/** The gate of this process for that many cores, or all: folders that are looked at together share it. */
export function sharedGate(limit = availableParallelism()): Gate {
  const gate = shared.get(limit) ?? createGate(Math.max(1, limit))
  shared.set(limit, gate)
  return gate
}
