import type { Outcome } from '../../contract/outcome.ts'
import type { State } from '../../contract/state.ts'
import { after } from '../after.ts'
import type { Finished } from '../finished.ts'
import type { RunningCall } from '../running.ts'
import { createState } from './create-state.ts'
import type { Transaction } from './transaction.ts'
import { visit } from './visit.ts'

/** What a call does with its state from begin to end: with the one that the caller gave, or with one of its own that is gone afterwards. */
export class Stay {
  /** What the call changed has become everybody's, and whoever listens was told. */
  isCommitted = false
  readonly #given: State | undefined
  readonly #call: RunningCall
  readonly #readOnly: boolean
  #transaction: Transaction | undefined
  #own: Transaction['singletons'] | undefined
  #isLeft = false

  /** Opens a given state as it is now. */
  constructor(given: State | undefined, readOnly: boolean, call: RunningCall) {
    this.#given = given
    this.#readOnly = readOnly
    this.#call = call
    // Null is none either, and a guard must not take it for one that remembers.
    if (given !== undefined) this.#transaction = visit(given, readOnly, call)
  }

  /** The state as the handler sees it. */
  get state(): State {
    return (this.#transaction ?? this.#openOwn()).state
  }

  // Most calls never look at it.
  #openOwn(): Transaction {
    const transaction = (this.#transaction = visit(createState(), this.#readOnly, this.#call))
    this.#own = transaction.singletons
    if (this.#isLeft) void this.leave()
    return transaction
  }

  /** Nothing has to be waited for at its end. Whoever hears of a given state is told before it changes. */
  endsAtOnce(isHeard: boolean): boolean {
    return !this.#transaction || (this.#transaction.isSimple && !(isHeard && this.#given))
  }

  /** Makes the changes those of everybody, at once; throws where that cannot be. */
  commit(): void {
    if (!this.#transaction) return
    this.#transaction.commit()
    this.isCommitted = true
  }

  /** The same as soon as that can be, after `complete`, which makes the answer when nothing can end the call any more. Of a given state `report` tells first. */
  commitInTurn(
    complete: () => Finished,
    report: ((outcome: Outcome) => void | Promise<void>) | undefined,
  ): Finished | Promise<Finished> {
    const transaction = this.#transaction!
    return after(transaction.takeTurn(), () => {
      const finished = complete()
      return after(
        transaction.settle(this.#given && report && (() => report(finished.outcome))),
        () => {
          this.isCommitted = true
          return finished
        },
      )
    })
  }

  /** Frees what the call held, and takes back what it did not commit. */
  leave(): void | Promise<void> {
    this.#isLeft = true
    const leaving = this.#transaction?.leave()
    return this.#own ? after(leaving, closeShared, this.#own) : leaving
  }
}

function closeShared(_left: void, own: Transaction['singletons']): Promise<void> {
  return own.close(false)
}
