/**
 * The state as one call sees it: a transaction that is committed when the call succeeds and rolled
 * back when it fails. Calls inside a call become part of its transaction.
 */

import type { Outcome } from '../../protocol/outcome.ts'
import type {
  Filesystem,
  Resources,
  Slice,
  SliceView,
  Snapshotable,
  State,
  StateJson,
  StateSnapshot,
  Transactional,
} from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { CallScope } from '../call-scope.ts'
import { currentScope } from '../call-scope.ts'
import type { CallResult } from '../call.ts'
import type { RunningCall } from '../lifecycle.ts'
import { mapMaybePromise } from '../lifecycle.ts'
import type { SharedMembers, StateBase } from './members.ts'
import {
  CallMembers,
  createTransactionOverError,
  getStateBase,
  mergeSlices,
  stateBase,
} from './members.ts'
import { Mutex } from './mutex.ts'
import type { SliceChange, SliceHolder, SliceMap } from './slices.ts'
import { HeldSliceView, ItemList, parseSnapshot } from './slices.ts'
import { createState } from './state.ts'

/**
 * The state as one call sees it: as it was when the call began, and what the call writes is its own
 * until `commit`. Calls inside it work on it as on a state.
 */
class Transaction implements StateBase, SliceHolder {
  #committing: Mutex | undefined
  #inPlace: Mutex | undefined
  readonly base: StateBase
  slices: SliceMap
  isOver = false
  readonly #before: SliceMap
  #changes: SliceChange[] | undefined
  readonly #readOnly: boolean
  readonly #call: RunningCall
  #parts: CallMembers | undefined
  #pass: (() => void) | undefined
  #isSettling = false
  #isCommitted = false
  #state: State | undefined
  #logs: SliceHolder | undefined

  constructor(base: StateBase, readOnly: boolean, call: RunningCall) {
    this.base = base
    this.#readOnly = readOnly
    this.#call = call
    this.slices = this.#before = base.slices
  }

  get id(): string {
    return this.base.id
  }

  get committing(): Mutex {
    return (this.#committing ??= new Mutex())
  }

  get inPlace(): Mutex {
    return (this.#inPlace ??= new Mutex())
  }

  get singletons(): SharedMembers {
    return this.base.singletons
  }

  get filesystem(): Transactional<Filesystem> | undefined {
    return this.base.filesystem
  }

  /** Throws when it is too late to begin with members: they would never be ended. */
  get parts(): CallMembers {
    if (!this.#parts && (this.isOver || this.#isSettling)) throw createTransactionOverError()
    return (this.#parts ??= new CallMembers(this.base, this.#readOnly, this.#call))
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

  absorb(next: SliceMap, changes: readonly SliceChange[]): void {
    this.slices = next
    for (const change of changes) this.#note(change)
  }

  get logs(): SliceHolder {
    return (this.#logs ??= new TransactionLogs(this))
  }

  /** What the handler gets. */
  get state(): State {
    return (this.#state ??= new TransactionState(this))
  }

  view<Item>(slice: Slice<Item>): SliceView<Item> {
    this.checkKind(slice)
    return new HeldSliceView(slice, slice.kind === 'log' ? this.logs : this)
  }

  itemsOf(key: string): ItemList<unknown> {
    return this.slices.get(key) ?? ItemList.none
  }

  change(change: SliceChange): void {
    const { key } = change
    const next = change.apply(this.itemsOf(key))
    this.slices = this.slices.with(key, next)
    this.#note(change)
  }

  #note(change: SliceChange): void {
    if (this.#changes) this.#changes.push(change)
    else this.#changes = [change]
  }

  /** Makes every slice what it was in a snapshot. */
  restore(slices: SliceMap): void {
    for (const key of new Set([...this.slices.keys(), ...slices.keys()])) {
      const items = slices.get(key) ?? ItemList.none
      if (items !== this.slices.get(key)) this.#note({ key, apply: () => items, replaces: true })
    }
    this.slices = slices
  }

  toJSON(slices: SliceMap): StateJson {
    return this.base.toJSON(slices)
  }

  /** Nothing has to be waited for when it commits. */
  get isSimple(): boolean {
    return !this.#parts && !this.base.committing.isLocked
  }

  /**
   * Waits until no other call commits, within the limits of this call; takes the turn
   * synchronously when it is free.
   */
  takeTurn(): void | Promise<void> {
    return mapMaybePromise(this.base.committing.acquire(this.#call), (pass) => {
      if (this.isOver) {
        pass()
        throw createTransactionOverError()
      }
      this.#pass = pass
    })
  }

  /**
   * Publishes the changes synchronously. Throws CONFLICT when another call changed the same.
   */
  commit(): void {
    if (this.#changes) this.base.absorb(this.#merge(), this.#changes)
    this.#isCommitted = true
    this.isOver = true
  }

  /**
   * The same after the members have committed and `report` has returned. Throws when any of that
   * fails; `leave` then rolls back.
   */
  settle(report: (() => void | Promise<void>) | undefined): void | Promise<void> {
    // A conflict must be known before anything is reported.
    this.#merge()
    this.#isSettling = true
    return mapMaybePromise(
      mapMaybePromise(this.#parts?.commit(), () => report?.()),
      () => this.commit(),
    )
  }

  #merge(): SliceMap {
    if (this.base.isOver) throw createTransactionOverError()
    return mergeSlices(this.#before, this.base.slices, this.slices, this.#changes ?? [])
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

// Log slices are written immediately, because they are never rolled back, but not after the end of
// the call.
class TransactionLogs implements SliceHolder {
  readonly #transaction: Transaction

  constructor(transaction: Transaction) {
    this.#transaction = transaction
  }

  itemsOf(key: string): ItemList<unknown> {
    return this.#transaction.base.logs.itemsOf(key)
  }

  change(change: SliceChange): void {
    if (!this.#transaction.isOver) this.#transaction.base.logs.change(change)
  }
}

// A class, because V8 creates a new hidden class for each literal with getters.
class TransactionState implements State {
  readonly [stateBase]: Transaction

  constructor(transaction: Transaction) {
    this[stateBase] = transaction
  }

  get id(): string {
    return this[stateBase].id
  }

  get<Item>(slice: Slice<Item>): SliceView<Item> {
    return this[stateBase].view(slice)
  }

  snapshot(): StateSnapshot {
    return { slices: this[stateBase].slices }
  }

  restore(snapshot: StateSnapshot): void {
    this[stateBase].restore(parseSnapshot(snapshot))
  }

  toJSON(): StateJson {
    return this[stateBase].toJSON(this[stateBase].slices)
  }

  get resources(): Resources {
    return this[stateBase].parts.resources
  }

  get filesystem(): Filesystem {
    return this[stateBase].parts.filesystem
  }

  close(): Promise<never> {
    return Promise.reject(
      new ToolError('PRECONDITION', 'a call cannot close the state that it works on'),
    )
  }
}

/**
 * Begins the work of a call on a state. Code inside a call that works on the same state becomes
 * part of it: what it leaves behind goes with that call. Throws CANCELLED where that call is over.
 */
function beginTransaction(state: State, readOnly: boolean, call: RunningCall): Transaction {
  const place = currentScope()
  const transaction = new Transaction(findInnermostBase(getStateBase(state), place), readOnly, call)
  if (place?.call === call) place.work = transaction
  return transaction
}

function findInnermostBase(base: StateBase, here: CallScope | undefined): StateBase {
  for (let at = base; at instanceof Transaction; at = at.base)
    if (at.isOver) throw createTransactionOverError()
  for (let place = here; place; place = place.outer) {
    const { work } = place
    if (!(work instanceof Transaction) || !isPartOfBase(work, base)) continue
    if (work.isLost) throw createTransactionOverError()
    if (!work.isOver) return work
  }
  return base
}

function isPartOfBase(transaction: Transaction, base: StateBase): boolean {
  let at: StateBase = transaction
  while (at !== base && at instanceof Transaction) at = at.base
  return at === base
}

/**
 * The work of a call on its state, from begin to end: the state the caller passed, or a temporary
 * one.
 */
export class CallState {
  /** The changes of the call are published and reported. */
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
    if (given !== undefined) this.#transaction = beginTransaction(given, readOnly, call)
  }

  /** The state as the handler sees it. */
  get state(): State {
    return (this.#transaction ?? this.#openOwn()).state
  }

  // Most calls never use it.
  #openOwn(): Transaction {
    const transaction = (this.#transaction = beginTransaction(
      createState(),
      this.#readOnly,
      this.#call,
    ))
    this.#own = transaction.singletons
    if (this.#isLeft) void this.leave()
    return transaction
  }

  /**
   * True when the end waits for nothing. A listener is called before a passed state changes.
   */
  endsAtOnce(isHeard: boolean): boolean {
    return !this.#transaction || (this.#transaction.isSimple && !(isHeard && this.#given))
  }

  /** Publishes the changes synchronously; throws when that fails. */
  commit(): void {
    if (!this.#transaction) return
    this.#transaction.commit()
    this.isCommitted = true
  }

  /**
   * The same when it is this call's turn, after `complete`, which makes the answer once the call
   * cannot be cancelled. With a passed state, `report` runs first.
   */
  commitInTurn(
    complete: () => CallResult,
    report: ((outcome: Outcome) => void | Promise<void>) | undefined,
  ): CallResult | Promise<CallResult> {
    const transaction = this.#transaction!
    return mapMaybePromise(transaction.takeTurn(), () => {
      const finished = complete()
      return mapMaybePromise(
        transaction.settle(this.#given && report && (() => report(finished.outcome))),
        () => {
          this.isCommitted = true
          return finished
        },
      )
    })
  }

  /** Releases what the call held, and rolls back what it did not commit. */
  leave(): void | Promise<void> {
    this.#isLeft = true
    const leaving = this.#transaction?.leave()
    return this.#own ? mapMaybePromise(leaving, closeOwnMembers, this.#own) : leaving
  }
}

function closeOwnMembers(_left: void, own: Transaction['singletons']): Promise<void> {
  return own.close(false)
}
