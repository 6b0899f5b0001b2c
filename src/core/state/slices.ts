/**
 * Slices: immutable lists by key. Versions share what is equal, so a snapshot is a reference and
 * appending costs what is appended.
 */

import type { Reducer, Slice, SliceView, StateSnapshot } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'

/**
 * What `snapshot` gave; throws CONFIG for anything else, before it stands in the place of a state.
 */
export function parseSnapshot(snapshot: StateSnapshot): SliceMap {
  const slices: unknown = (snapshot as StateSnapshot | null | undefined)?.slices
  if (!(slices instanceof SliceMap))
    throw new ToolError('CONFIG', 'restore() takes what snapshot() gave')
  return slices
}

/**
 * One change of one slice. It can be made again on other items, unless it put something in the
 * place of all of them.
 */
export type SliceChange = {
  readonly key: string
  apply(items: ItemList<unknown>): ItemList<unknown>
  readonly replaces: boolean
}

/** Holds the items of slices. */
export type SliceHolder = {
  itemsOf(key: string): ItemList<unknown>
  change(change: SliceChange): void
}

/** A slice as its user sees it. */
export class HeldSliceView<Item> implements SliceView<Item> {
  readonly #slice: Slice<Item>
  readonly #holder: SliceHolder

  constructor(slice: Slice<Item>, holder: SliceHolder) {
    this.#slice = slice
    this.#holder = holder
  }

  latest(): Item | undefined {
    return this.#items.latest
  }

  all(): readonly Item[] {
    return this.#items.all
  }

  where(predicate: (item: Item) => boolean): readonly Item[] {
    return this.#items.all.filter(predicate)
  }

  append(...added: Item[]): void {
    this.#holder.change(new AppendChange(this.#slice, added))
  }

  replace(next: readonly Item[]): void {
    this.#change(
      () =>
        ItemList.of(
          requireList(next, () => `replace() of slice '${this.#slice.key}' needs a list`),
        ),
      true,
    )
  }

  upsert(item: Item): void {
    this.#change((now) => upsertItem(this.#slice, now, item))
  }

  clear(predicate?: (item: Item) => boolean): void {
    this.#change((now) =>
      predicate ? ItemList.frozen(now.all.filter((item) => !predicate(item))) : ItemList.none,
    )
  }

  reduce<Event>(reducer: Reducer<Item, Event>, event: Event): void {
    this.#change((now) =>
      ItemList.of(
        requireList(
          reducer(now.all, event),
          () => `a reducer of slice '${this.#slice.key}' gave no list`,
        ),
      ),
    )
  }

  get #items(): ItemList<Item> {
    return checkItems(this.#slice, this.#holder.itemsOf(this.#slice.key))
  }

  #change(apply: (items: ItemList<Item>) => ItemList<Item>, replaces = false): void {
    const slice = this.#slice
    this.#holder.change({
      key: slice.key,
      apply: slice.read ? (now) => apply(checkItems(slice, now)) : apply,
      replaces,
    })
  }
}

// A class, because it is what most calls do: one object instead of two functions and what they
// hold.
class AppendChange<Item> implements SliceChange {
  readonly replaces = false
  readonly #slice: Slice<Item>
  readonly #added: readonly Item[]

  constructor(slice: Slice<Item>, added: readonly Item[]) {
    this.#slice = slice
    this.#added = added
  }

  get key(): string {
    return this.#slice.key
  }

  apply(now: ItemList<unknown>): ItemList<unknown> {
    return checkItems(this.#slice, now).append(this.#added)
  }
}

// What came from outside is checked by the first look at it.
function checkItems<Item>(slice: Slice<Item>, items: ItemList<unknown>): ItemList<Item> {
  return slice.read
    ? (items as ItemList<Item>).checked((item) => parseItem(slice, item))
    : (items as ItemList<Item>)
}

function upsertItem<Item>(slice: Slice<Item>, items: ItemList<Item>, item: Item): ItemList<Item> {
  if (!slice.by)
    throw new ToolError(
      'CONFIG',
      `slice '${slice.key}' cannot tell which items are the same: give it by, for example slice('${slice.key}', { by: (item) => item.id })`,
    )
  const key = slice.by(item)
  const at = items.all.findIndex((other) => slice.by!(other) === key)
  if (at < 0) return items.append([item])
  deepFreeze(item)
  return ItemList.frozen(items.all.with(at, item))
}

function requireList<Item>(items: readonly Item[], problem: () => string): readonly Item[] {
  if (!Array.isArray(items)) throw new ToolError('CONFIG', `${problem()} of items`)
  return items
}

function parseItem<Item>(slice: Slice<Item>, item: unknown): Item {
  try {
    return slice.read!(item)
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `slice '${slice.key}' holds something from outside that is none of its items: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

// So many items are copied rather than linked.
const MAX_COPIED_ITEMS = 32

/** Items that stand in front of others. */
type ItemRun<Item> = {
  readonly before: ItemRun<Item> | undefined
  readonly array: readonly Item[]
  readonly length: number
}

/**
 * A list that never changes. To append shares what is there: the cost does not grow with the list,
 * not even where the appending call fails and the next one appends again.
 */
export class ItemList<Item> {
  static readonly none = new ItemList<never>(undefined, [])
  readonly #before: ItemRun<Item> | undefined
  // Others may have pushed behind our length: they own what lies there.
  readonly #array: Item[]
  readonly #length: number
  #all: readonly Item[] | undefined
  #checked: ItemList<unknown> | undefined
  #isUnchecked = false

  private constructor(before: ItemRun<Item> | undefined, array: Item[]) {
    this.#before = before
    this.#array = array
    this.#length = array.length
  }

  static of<Item>(items: readonly Item[]): ItemList<Item> {
    for (const item of items) deepFreeze(item)
    return ItemList.frozen(items.slice())
  }

  /** A list of items that were in a list before; it keeps the array. */
  static frozen<Item>(items: Item[]): ItemList<Item> {
    return items.length === 0 ? ItemList.none : new ItemList(undefined, items)
  }

  /** Items from outside, checked when they are first read. */
  static unchecked(items: readonly unknown[]): ItemList<unknown> {
    const list = ItemList.of(items)
    if (list !== ItemList.none) list.#isUnchecked = true
    return list
  }

  /** The items as `read` gives them, where they came from outside. */
  checked(read: (item: unknown) => Item): ItemList<Item> {
    if (!this.#isUnchecked) return this
    return (this.#checked ??= ItemList.of(this.all.map(read))) as ItemList<Item>
  }

  get latest(): Item | undefined {
    return this.#length > 0 ? this.#array[this.#length - 1] : undefined
  }

  get all(): readonly Item[] {
    return (this.#all ??= Object.freeze(
      this.#before ? this.#runs().flat() : this.#array.slice(0, this.#length),
    ))
  }

  #runs(): (readonly Item[])[] {
    const runs = [this.#array.slice(0, this.#length)]
    for (let run = this.#before; run; run = run.before) runs.push(run.array.slice(0, run.length))
    return runs.reverse()
  }

  append(items: readonly Item[]): ItemList<Item> {
    if (items.length === 0) return this
    for (const item of items) deepFreeze(item)
    // Never into the empty list, which everybody has and which would keep it all.
    return this.#length > 0 && this.#array.length === this.#length
      ? ItemList.#grown(this.#before, this.#array, items)
      : this.#branch(items)
  }

  // Another has pushed behind us. As many as it pushed can be copied for the same price, and then
  // nobody keeps what it left there.
  #branch(items: readonly Item[]): ItemList<Item> {
    if (this.#length <= Math.max(MAX_COPIED_ITEMS, this.#array.length - this.#length))
      return ItemList.#grown(this.#before, this.#array.slice(0, this.#length), items)
    return ItemList.#grown(
      { before: this.#before, array: this.#array, length: this.#length },
      [],
      items,
    )
  }

  static #grown<Item>(
    before: ItemRun<Item> | undefined,
    array: Item[],
    items: readonly Item[],
  ): ItemList<Item> {
    for (const item of items) array.push(item)
    return new ItemList(before, array)
  }
}

/**
 * The slices that roll back, by key. It never changes, so a snapshot is a reference. Its versions
 * share the places of the keys: a list is copied in a tenth of the time of a `Map`.
 */
export class SliceMap {
  // It only grows, also by the keys of calls that fail.
  readonly #places: Map<string, number>
  readonly #items: readonly (ItemList<unknown> | undefined)[]

  private constructor(
    places: Map<string, number>,
    items: readonly (ItemList<unknown> | undefined)[],
  ) {
    this.#places = places
    this.#items = items
  }

  static of(entries: Iterable<readonly [string, ItemList<unknown>]>): SliceMap {
    const items = new Map(entries)
    return new SliceMap(new Map(Array.from(items.keys(), (key, place) => [key, place])), [
      ...items.values(),
    ])
  }

  get(key: string): ItemList<unknown> | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#items[place]
  }

  /** The same with other items of one slice; without any it is as if it had never been there. */
  with(key: string, items: ItemList<unknown> | undefined): SliceMap {
    let place = this.#places.get(key)
    if (place === undefined) this.#places.set(key, (place = this.#places.size))
    const next = this.#items.slice()
    while (next.length < place) next.push(undefined)
    next[place] = items
    return new SliceMap(this.#places, next)
  }

  keys(): string[] {
    return [...this.#places.keys()].filter((key) => this.get(key))
  }
}

/**
 * Freezes plain objects and arrays all the way down: an item that a handler could change in place
 * would not roll back. Other objects are their owner's.
 */
function deepFreeze(value: unknown): void {
  if (!isFreezable(value)) return
  const inner = freezeShallow(value)
  if (!inner) return
  // What is frozen already may hold what is not, and may hold itself.
  const seen = new Set<object>([value])
  for (let object = inner.pop(); object; object = inner.pop()) {
    if (seen.has(object)) continue
    seen.add(object)
    const more = freezeShallow(object)
    if (more) for (const found of more) inner.push(found)
  }
}

// Gives the plain objects inside, where there are any.
function freezeShallow(object: object): object[] | undefined {
  Object.freeze(object)
  let inner: object[] | undefined
  for (const key of Object.keys(object)) {
    const value = (object as { readonly [key: string]: unknown })[key]
    if (typeof value === 'object' && isFreezable(value)) (inner ??= []).push(value)
  }
  return inner
}

function isFreezable(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
