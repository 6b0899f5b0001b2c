import type { State } from '../../contract/state.ts'
import { after } from '../after.ts'
import type { RunningCall } from '../running.ts'
import { createState } from './create-state.ts'
import type { Transaction } from './transaction.ts'
import { visit } from './visit.ts'

/** What a call does with its state from begin to end: with the one that the caller gave, or with one of its own that is gone afterwards. */
export class Stay {
  /** What the call changed has become everybody's, and whoever listens was told. */
  isCommitted = false
  readonly #given: State | undefined
  #transaction: Transaction | undefined
  #own: State | undefined

  constructor(given: State | undefined) {
    this.#given = given
  }

  /** Opens the state as it is now. */
  begin(readOnly: boolean, call: RunningCall): void {
    if (this.#given) this.#transaction = visit(this.#given, readOnly, call)
  }

  /** The state as the handler sees it. */
  readonly state = (): State => this.#transaction?.state ?? (this.#own ??= createState())

  /** Makes the changes those of everybody, once `report` has told of them; where anything of that fails, it throws. */
  commit(report: (() => Promise<void>) | undefined): void | Promise<void> {
    return after(this.#transaction?.commit(report), () => {
      this.isCommitted = true
    })
  }

  get isUsed(): boolean {
    return this.#transaction !== undefined || this.#own !== undefined
  }

  /** Frees what the call held, and takes back what it did not commit. */
  leave(): void | Promise<void> {
    return after(this.#transaction?.leave(this.isCommitted), () => this.#own?.close())
  }
}
