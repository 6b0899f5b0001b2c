import type { StepState } from './run-model-type.ts'

type Kept = {
  /** How many steps are around it. */ readonly depth: number
  readonly state: StepState
}

/** Steps that are going on, steps that went wrong, those of the workflow itself, and those inside others: there is room for each of these by itself, so that a thousand items that went well hide nothing else. */
type Room = 'open' | 'wrong' | 'top' | 'inner'

const ROOM = 1000

/** Whether there are more steps where this one belongs than are kept, itself among them; `total` is the number of all. */
export function isCrowded(steps: Iterable<Kept>, total: number, one: Kept): boolean {
  if (total <= ROOM) return false
  const room = roomOf(one)
  let count = 0
  for (const step of steps) if (roomOf(step) === room) count += 1
  return count > ROOM
}

function roomOf({ depth, state }: Kept): Room {
  switch (state) {
    case 'ok':
    case 'skipped':
      return depth > 0 ? 'inner' : 'top'
    case 'pending':
    case 'running':
    case 'waiting':
      return 'open'
    default:
      return 'wrong'
  }
}
