import type { Reducer, Slice, SliceView, StateSnapshot } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { deepFreeze } from './deep-freeze.ts'
import { Items } from './items.ts'
import { SliceMap } from './slice-map.ts'

/** What `snapshot` gave; throws CONFIG for anything else, before it stands in the place of a state. */
export function readSnapshot(snapshot: StateSnapshot): SliceMap {
  const slices: unknown = (snapshot as StateSnapshot | null | undefined)?.slices
  if (!(slices instanceof SliceMap))
    throw new ToolError('CONFIG', 'restore() takes what snapshot() gave')
  return slices
}

/** One change of one slice. It can be made again on other items, unless it put something in the place of all of them. */
export type Change = {
  readonly key: string
  apply(items: Items<unknown>): Items<unknown>
  readonly replaces: boolean
}

/** Whatever holds the items of slices. */
export type Holder = { itemsOf(key: string): Items<unknown>; change(change: Change): void }

/** A slice as its user sees it. */
export class View<Item> implements SliceView<Item> {
  readonly #slice: Slice<Item>
  readonly #holder: Holder

  constructor(slice: Slice<Item>, holder: Holder) {
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
    this.#holder.change(new Append(this.#slice, added))
  }

  replace(next: readonly Item[]): void {
    this.#change(
      () => Items.of(checkList(next, () => `replace() of slice '${this.#slice.key}' needs a list`)),
      true,
    )
  }

  upsert(item: Item): void {
    this.#change((now) => upsert(this.#slice, now, item))
  }

  clear(predicate?: (item: Item) => boolean): void {
    this.#change((now) =>
      predicate ? Items.frozen(now.all.filter((item) => !predicate(item))) : Items.none,
    )
  }

  reduce<Event>(reducer: Reducer<Item, Event>, event: Event): void {
    this.#change((now) =>
      Items.of(
        checkList(
          reducer(now.all, event),
          () => `a reducer of slice '${this.#slice.key}' gave no list`,
        ),
      ),
    )
  }

  get #items(): Items<Item> {
    return check(this.#slice, this.#holder.itemsOf(this.#slice.key))
  }

  #change(apply: (items: Items<Item>) => Items<Item>, replaces = false): void {
    const slice = this.#slice
    this.#holder.change({
      key: slice.key,
      apply: slice.read ? (now) => apply(check(slice, now)) : apply,
      replaces,
    })
  }
}

// A class, because it is what most calls do: one object instead of two functions and what they hold.
class Append<Item> implements Change {
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

  apply(now: Items<unknown>): Items<unknown> {
    return check(this.#slice, now).append(this.#added)
  }
}

// What came from outside is checked by the first look at it.
function check<Item>(slice: Slice<Item>, items: Items<unknown>): Items<Item> {
  return slice.read
    ? (items as Items<Item>).checked((item) => readItem(slice, item))
    : (items as Items<Item>)
}

function upsert<Item>(slice: Slice<Item>, items: Items<Item>, item: Item): Items<Item> {
  if (!slice.by)
    throw new ToolError(
      'CONFIG',
      `slice '${slice.key}' cannot tell which items are the same: give it by, for example slice('${slice.key}', { by: (item) => item.id })`,
    )
  const key = slice.by(item)
  const at = items.all.findIndex((other) => slice.by!(other) === key)
  if (at < 0) return items.append([item])
  deepFreeze(item)
  return Items.frozen(items.all.with(at, item))
}

function checkList<Item>(items: readonly Item[], problem: () => string): readonly Item[] {
  if (!Array.isArray(items)) throw new ToolError('CONFIG', `${problem()} of items`)
  return items
}

function readItem<Item>(slice: Slice<Item>, item: unknown): Item {
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
