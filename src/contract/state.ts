/** A typed place in the state. A `state` slice rolls back when a call fails; a `log` slice keeps what was appended. */
export type Slice<Item> = { readonly key: string; readonly kind: 'state' | 'log'; readonly item?: Item }

/** The items of one slice. */
export type SliceView<Item> = {
  latest(): Item | undefined
  all(): readonly Item[]
  where(predicate: (item: Item) => boolean): readonly Item[]
  append(...items: Item[]): void
  replace(items: readonly Item[]): void
}

/** What `snapshot` gives and `restore` takes; opaque to everybody else. */
export type StateSnapshot = { readonly slices: ReadonlyMap<string, readonly unknown[]> }

/** The typed store that rolls back when a call fails. */
export type State = {
  get<Item>(slice: Slice<Item>): SliceView<Item>
  snapshot(): StateSnapshot
  restore(snapshot: StateSnapshot): void
}
