import type { Filesystem } from '../../contract/filesystem.ts'
import type { Resources, Slice, SliceView, Snapshotable, State, StateJson, StateSnapshot, Transactional } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { RunningCall } from '../running.ts'
import { behind, merge } from './base.ts'
import type { Base } from './base.ts'
import { Items } from './items.ts'
import { isOver } from './over.ts'
import { Parts } from './parts.ts'
import type { Singletons } from './singletons.ts'
import { viewSlice } from './slices.ts'
import type { Change, SliceMap } from './slices.ts'
import { Turns } from './turns.ts'

const UNCHANGED = new Map<string, Change[]>()

/** The state as one call sees it: as it was when the call began, and what the call writes is its own until `commit`. Calls inside it work on it as on a state. */
export class Transaction implements Base {
  #committing: Turns | undefined
  #inPlace: Turns | undefined
  readonly base: Base
  slices: SliceMap
  isOver = false
  readonly #before: SliceMap
  #changes: Map<string, Change[]> = UNCHANGED
  readonly #readOnly: boolean
  readonly #call: RunningCall
  #parts: Parts | undefined
  #pass: (() => void) | undefined
  #isSettling = false
  #isCommitted = false
  #state: State | undefined

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

  absorb(next: SliceMap, changes: ReadonlyMap<string, readonly Change[]>): void {
    this.slices = next
    for (const [key, made] of changes) this.#noted(key).push(...made)
  }

  /** Log slices are written at once, because they stay whatever happens, but not after the call is over. */
  log<Item>(slice: Slice<Item>): SliceView<Item> {
    const view = this.base.log(slice)
    const unlessOver = <Given extends unknown[]>(write: (...given: Given) => void) => (...given: Given): void => {
      if (!this.isOver) write(...given)
    }
    return { ...view, append: unlessOver(view.append), replace: unlessOver(view.replace), upsert: unlessOver(view.upsert), clear: unlessOver(view.clear), reduce: (reducer, event) => { if (!this.isOver) view.reduce(reducer, event) } }
  }

  /** What the handler gets. */
  get state(): State {
    return (this.#state ??= new TransactionState(this))
  }

  view<Item>(slice: Slice<Item>): SliceView<Item> {
    this.checkKind(slice)
    if (slice.kind === 'log') return this.log(slice)
    const { key } = slice
    const read = (): Items<unknown> => this.slices.get(key) ?? Items.none
    return viewSlice(slice, read, (change) => {
      const next = change.apply(read())
      this.slices = new Map(this.slices).set(key, next)
      this.#noted(key).push(change)
    })
  }

  #noted(key: string): Change[] {
    if (this.#changes === UNCHANGED) this.#changes = new Map()
    let changes = this.#changes.get(key)
    if (!changes) this.#changes.set(key, (changes = []))
    return changes
  }

  /** Makes every slice what it was in a snapshot. */
  restore(slices: SliceMap): void {
    for (const key of new Set([...this.slices.keys(), ...slices.keys()])) {
      const items = slices.get(key) ?? Items.none
      if (items !== this.slices.get(key)) this.#noted(key).push({ apply: () => items, replaces: true })
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

  /** Waits until no other call commits, as long as this one may. */
  async takeTurn(): Promise<void> {
    const pass = await this.base.committing.take(this.#call)
    if (this.isOver) {
      pass()
      throw isOver()
    }
    this.#pass = pass
  }

  /** Makes the changes those of everybody, at once; throws CONFLICT where another call was in the way. */
  commit(): void {
    if (this.#changes.size > 0) this.base.absorb(this.#merge(), this.#changes)
    this.#isCommitted = true
    this.isOver = true
  }

  /** The same once the members have committed and `report` has told of it. Where anything of that fails it throws, and `leave` takes back what has been done. */
  async settle(report: (() => Promise<void>) | undefined): Promise<void> {
    // A conflict has to be known before anybody is told.
    this.#merge()
    this.#isSettling = true
    await this.#parts?.commit()
    await report?.()
    this.commit()
  }

  #merge(): SliceMap {
    if (this.base.isOver) throw isOver()
    return merge(this.#before, this.base.slices, this.slices, this.#changes)
  }

  /** It ended, and nothing of it stayed. */
  get isLost(): boolean {
    return this.isOver && !this.#isCommitted
  }

  /** Ends it: what was committed stays, everything else is taken back. */
  leave(): void | Promise<void> {
    this.isOver = true
    if (!this.#parts) return this.#pass?.()
    return (this.#isCommitted ? this.#parts.end() : this.#parts.rollback()).finally(() => this.#pass?.())
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

  restore({ slices }: StateSnapshot): void {
    this[behind].restore(slices as SliceMap)
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
    return Promise.reject(new ToolError('PRECONDITION', 'a call cannot close the state that it works on'))
  }
}
