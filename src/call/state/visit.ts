import type { State } from '../../contract/state.ts'
import { here } from '../work-place.ts'
import type { Place } from '../work-place.ts'
import type { RunningCall } from '../running.ts'
import { baseOf } from './base.ts'
import type { Base } from './base.ts'
import { isOver } from './over.ts'
import { Transaction } from './transaction.ts'

/** Begins the work of a call on a state. Code inside a call that works on the same state becomes part of it: what it leaves behind goes with that call. Throws CANCELLED where that call is over. */
export function visit(state: State, readOnly: boolean, call: RunningCall): Transaction {
  const place = here()
  const transaction = new Transaction(innermost(baseOf(state), place), readOnly, call)
  if (place?.call === call) place.work = transaction
  return transaction
}

function innermost(base: Base, here: Place | undefined): Base {
  for (let at = base; at instanceof Transaction; at = at.base) if (at.isOver) throw isOver()
  for (let place = here; place; place = place.outer) {
    const { work } = place
    if (!(work instanceof Transaction) || !isPartOf(work, base)) continue
    if (work.isLost) throw isOver()
    if (!work.isOver) return work
  }
  return base
}

function isPartOf(transaction: Transaction, base: Base): boolean {
  let at: Base = transaction
  while (at !== base && at instanceof Transaction) at = at.base
  return at === base
}
