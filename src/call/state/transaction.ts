import type { Filesystem } from '../../contract/filesystem.ts'
import type {
  Resources,
  Slice,
  SliceView,
  Snapshotable,
  State,
  StateJson,
  StateSnapshot,
  Transactional,
} from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { after } from '../after.ts'
import type { RunningCall } from '../running.ts'
import { behind, merge } from './base.ts'
import type { Base } from './base.ts'
import { Items } from './items.ts'
import { isOver } from './over.ts'
import { Parts } from './parts.ts'
import type { Singletons } from './singletons.ts'
import type { SliceMap } from './slice-map.ts'
import { readSnapshot, View } from './slices.ts'
import type { Change, Holder } from './slices.ts'
import { Turns } from './turns.ts'

/** The state as one call sees it: as it was when the call began, and what the call writes is its own until `commit`. Calls inside it work on it as on a state. */
export class Transaction implements Base, Holder {
  #committing: Turns | undefined
  #inPlace: Turns | undefined
  readonly base: Base
  slices: SliceMap
  isOver = false
  readonly #before: SliceMap
  #changes: Change[] | undefined
  readonly #readOnly: boolean
  readonly #call: RunningCall
  #parts: Parts | undefined
  #pass: (() => void) | undefined
  #isSettling = false
  #isCommitted = false
  #state: State | undefined
  #logs: Holder | undefined

  constructor(base: Base, readOnly: boolean, call: RunningCall) {
    this.base = base
    this.#readOnly = readOnly
    this.#call = call
    this.slices = this.#before = base.slices
  }

  get id(): string {
    return this.base.id
  }

  get committing(): Turns {
    return (this.#committing ??= new Turns())
  }

  get inPlace(): Turns {
    return (this.#inPlace ??= new Turns())
  }

  get singletons(): Singletons {
    return this.base.singletons
  }

  get filesystem(): Transactional<Filesystem> | undefined {
    return this.base.filesystem
  }

  /** Throws when it is too late to begin with members: they would never be ended. */
  get parts(): Parts {
    if (!this.#parts && (this.isOver || this.#isSettling)) throw isOver()
    return (this.#parts ??= new Parts(this.base, this.#readOnly, this.#call))
  }

  keep(thing: Snapshotable): Promise<void> {
    return this.parts.keep(thing)
  }

  transactional<View>(thing: Transactional<View>): Pick<Transactional<View>, 'begin'> {
    return this.parts.begin(thing)
  }

  checkKind(slice: Slice<unknown>): void {
    this.base.checkKind(slice)
  }

  absorb(next: SliceMap, changes: readonly Change[]): void {
    this.slices = next
    for (const change of changes) this.#note(change)
  }

  get logs(): Holder {
    return (this.#logs ??= new OpenLogs(this))
  }

  /** What the handler gets. */
  get state(): State {
    return (this.#state ??= new TransactionState(this))
  }

  view<Item>(slice: Slice<Item>): SliceView<Item> {
    this.checkKind(slice)
    return new View(slice, slice.kind === 'log' ? this.logs : this)
  }

  itemsOf(key: string): Items<unknown> {
    return this.slices.get(key) ?? Items.none
  }

  change(change: Change): void {
    const { key } = change
    const next = change.apply(this.itemsOf(key))
    this.slices = this.slices.with(key, next)
    this.#note(change)
  }

  #note(change: Change): void {
    if (this.#changes) this.#changes.push(change)
    else this.#changes = [change]
  }

  /** Makes every slice what it was in a snapshot. */
  restore(slices: SliceMap): void {
    for (const key of new Set([...this.slices.keys(), ...slices.keys()])) {
      const items = slices.get(key) ?? Items.none
      if (items !== this.slices.get(key)) this.#note({ key, apply: () => items, replaces: true })
    }
    this.slices = slices
  }

  toJSON(slices: SliceMap): StateJson {
    return this.base.toJSON(slices)
  }

  /** Nothing has to be waited for when it commits. */
  get isSimple(): boolean {
    return !this.#parts && !this.base.committing.isTaken
  }

  /** Waits until no other call commits, as long as this one may; has the turn at once where none does. */
  takeTurn(): void | Promise<void> {
    return after(this.base.committing.take(this.#call), (pass) => {
      if (this.isOver) {
        pass()
        throw isOver()
      }
      this.#pass = pass
    })
  }

  /** Makes the changes those of everybody, at once; throws CONFLICT where another call was in the way. */
  commit(): void {
    if (this.#changes) this.base.absorb(this.#merge(), this.#changes)
    this.#isCommitted = true
    this.isOver = true
  }

  /** The same once the members have committed and `report` has told of it. Where anything of that fails it throws, and `leave` takes back what has been done. */
  settle(report: (() => void | Promise<void>) | undefined): void | Promise<void> {
    // A conflict has to be known before anybody is told.
    this.#merge()
    this.#isSettling = true
    return after(
      after(this.#parts?.commit(), () => report?.()),
      () => this.commit(),
    )
  }

  #merge(): SliceMap {
    if (this.base.isOver) throw isOver()
    return merge(this.#before, this.base.slices, this.slices, this.#changes ?? [])
  }

  /** It ended, and nothing of it stayed. */
  get isLost(): boolean {
    return this.isOver && !this.#isCommitted
  }

  /** Ends it: what was committed stays, everything else is taken back. */
  leave(): void | Promise<void> {
    this.isOver = true
    if (!this.#parts) return this.#pass?.()
    return (this.#isCommitted ? this.#parts.end() : this.#parts.rollback()).finally(() =>
      this.#pass?.(),
    )
  }
}

// Log slices are written at once, because they stay whatever happens, but not after the call is over.
class OpenLogs implements Holder {
  readonly #transaction: Transaction

  constructor(transaction: Transaction) {
    this.#transaction = transaction
  }

  itemsOf(key: string): Items<unknown> {
    return this.#transaction.base.logs.itemsOf(key)
  }

  change(change: Change): void {
    if (!this.#transaction.isOver) this.#transaction.base.logs.change(change)
  }
}

// A class, because the hidden class of a literal with getters is made anew for each call.
class TransactionState implements State {
  readonly [behind]: Transaction

  constructor(transaction: Transaction) {
    this[behind] = transaction
  }

  get id(): string {
    return this[behind].id
  }

  get<Item>(slice: Slice<Item>): SliceView<Item> {
    return this[behind].view(slice)
  }

  snapshot(): StateSnapshot {
    return { slices: this[behind].slices }
  }

  restore(snapshot: StateSnapshot): void {
    this[behind].restore(readSnapshot(snapshot))
  }

  toJSON(): StateJson {
    return this[behind].toJSON(this[behind].slices)
  }

  get resources(): Resources {
    return this[behind].parts.resources
  }

  get filesystem(): Filesystem {
    return this[behind].parts.filesystem
  }

  close(): Promise<never> {
    return Promise.reject(
      new ToolError('PRECONDITION', 'a call cannot close the state that it works on'),
    )
  }
}
