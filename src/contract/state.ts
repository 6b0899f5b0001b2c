import type { Filesystem } from './filesystem.ts'

/** A typed place in the state. A `state` slice rolls back when a call fails; a `log` slice keeps what was appended. */
export type Slice<Item> = {
  readonly key: string
  readonly kind: 'state' | 'log'
  /** What makes an item the same as another; `upsert` compares it. */
  by?(item: Item): unknown
  /** Checks an item that came from JSON; throws where it is none. */
  read?(value: unknown): Item
  readonly item?: Item
}

/** Makes the next items of a slice out of those that are there and something that happened. It must be pure: it may run again. */
export type Reducer<Item, Event> = (items: readonly Item[], event: Event) => readonly Item[]

/** The items of one slice. They are frozen: what changes is the list. */
export type SliceView<Item> = {
  latest(): Item | undefined
  all(): readonly Item[]
  where(predicate: (item: Item) => boolean): readonly Item[]
  append(...items: Item[]): void
  replace(items: readonly Item[]): void
  /** Puts the item in the place of the one that is the same by the slice's `by`, else at the end. */
  upsert(item: Item): void
  /** Takes out all items, or those that the predicate names. */
  clear(predicate?: (item: Item) => boolean): void
  reduce<Event>(reducer: Reducer<Item, Event>, event: Event): void
}

/** What `snapshot` gives and `restore` takes; opaque to everybody else. */
export type StateSnapshot = { readonly slices: object }

/** A state as JSON. */
export type StateJson = {
  readonly version: 1
  readonly id: string
  readonly slices: {
    readonly [key: string]: { readonly kind: 'state' | 'log'; readonly items: readonly unknown[] }
  }
}

/** The typed store that rolls back when a call fails. */
export type State = {
  /** Tells it from others in events: the seed's session id. */
  readonly id: string
  get<Item>(slice: Slice<Item>): SliceView<Item>
  snapshot(): StateSnapshot
  restore(snapshot: StateSnapshot): void
  /** All slices, to be kept and given to `createState({ from })`; throws CONFIG, naming the slice, where an item is not JSON. */
  toJSON(): StateJson
  /** What calls share besides slices. */
  readonly resources: Resources
  /** Files that roll back with the slices; throws CONFIG where the state has none. */
  readonly filesystem: Filesystem
  /** Closes what was opened, the last first. */
  close(): Promise<void>
}

/** Something that calls share: made at the first look at it, once for the state (`singleton`) or once for each call. */
export type Member<Value> = {
  readonly key: string
  readonly scope: 'singleton' | 'call'
  /** May ask for other members; a circle is a CONFIG error. */
  open(resources: Resources): Value | Transactional<Value> | Promise<Value | Transactional<Value>>
  close?(value: Value): void | Promise<void>
}

/** Finds what calls share. */
export type Resources = { get<Value>(member: Member<Value>): Promise<Value> }

/** Something that can be put back as it was: a member of this form rolls back when a call fails. Calls that use such members wait for each other, unless they are read-only. */
export type Snapshotable<Snapshot = unknown> = {
  snapshot(): Snapshot | Promise<Snapshot>
  restore(snapshot: Snapshot): void | Promise<void>
}

/** Something whose changes of one call can be held apart until they are wanted. */
export type Transactional<View> = {
  /** Cheap and at once: what it needs to prepare, it does at the first use of the view. */
  begin(options: {
    /** Writing through the view is refused. */ readonly readOnly: boolean
  }): TransactionPart<View>
}

/** The changes of one call to one thing. */
export type TransactionPart<View> = {
  readonly view: View
  /** Makes the changes those of everybody. Where it throws, nothing has changed: CONFLICT (retryable) where another call changed meanwhile what this one read or wrote. */
  commit(): void | Promise<void>
  /** Forgets the changes; after `commit`, takes them back. */
  rollback(): void | Promise<void>
  /** The changes stay: what `rollback` would have needed may go. */
  end?(): void | Promise<void>
  /** The changes of a call inside this one: its commit gives them to this part, its rollback forgets them alone. */
  begin(options: { readonly readOnly: boolean }): TransactionPart<View>
}
