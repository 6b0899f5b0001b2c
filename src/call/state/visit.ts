import type { AsyncLocalStorage } from 'node:async_hooks'
import type { State } from '../../contract/state.ts'
import { host } from '../host.ts'
import type { RunningCall } from '../running.ts'
import { baseOf } from './base.ts'
import type { Base } from './base.ts'
import { Transaction } from './transaction.ts'

/** The transactions that the code at work here is part of, the innermost first. */
type Inside = { readonly transaction: Transaction; readonly outer: Inside | undefined }
let places: AsyncLocalStorage<Inside> | undefined

/** Begins the work of a call on a state. Code inside a call that works on the same state becomes part of it: what it leaves behind goes with that call. */
export function visit(state: State, readOnly: boolean, call: RunningCall): Transaction {
  return new Transaction(innermost(baseOf(state)), readOnly, call)
}

/** Runs a handler so that calls inside it know where they are. */
export function inside<T>(transaction: Transaction, run: () => T): T {
  places ??= host.localStorage<Inside>()
  return places.run({ transaction, outer: places.getStore() }, run)
}

function innermost(base: Base): Base {
  for (let place = places?.getStore(); place; place = place.outer) if (!place.transaction.isOver && isPartOf(place.transaction, base)) return place.transaction
  return base
}

function isPartOf(transaction: Transaction, base: Base): boolean {
  let at: Base = transaction
  while (at !== base && at instanceof Transaction) at = at.base
  return at === base
}
