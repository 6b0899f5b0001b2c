import type { State } from '../../contract/state.ts'
import type { RunningCall } from '../running.ts'
import { createState } from './create-state.ts'
import type { Transaction } from './transaction.ts'
import { inside, visit } from './visit.ts'

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

  /** Runs the rest of a call on its state. */
  begin<T>(readOnly: boolean, call: RunningCall, run: () => T): T {
    if (!this.#given) return run()
    this.#transaction = visit(this.#given, readOnly, call)
    return inside(this.#transaction, run)
  }

  /** The state as the handler sees it. */
  readonly state = (): State => this.#transaction?.state ?? (this.#own ??= createState())

  /** Makes the changes those of everybody, once `report` has told of them; where anything of that fails, it throws. */
  async commit(report: () => Promise<void>): Promise<void> {
    await this.#transaction?.commit(report)
    this.isCommitted = true
  }

  get isUsed(): boolean {
    return this.#transaction !== undefined || this.#own !== undefined
  }

  /** Frees what the call held, and takes back what it did not commit. */
  async leave(): Promise<void> {
    await this.#transaction?.leave(this.isCommitted)
    await this.#own?.close()
  }
}
