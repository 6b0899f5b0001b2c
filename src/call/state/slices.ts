import type { Slice, SliceView } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Items } from './items.ts'

/** The slices that roll back, by key. The map is replaced, never changed, so a snapshot is a reference. */
export type SliceMap = ReadonlyMap<string, Items<unknown>>

/** One change of one slice. It can be made again on other items, unless it put something in the place of all of them. */
export type Change = { apply(items: Items<unknown>): Items<unknown>; readonly replaces: boolean }

/** A slice as its user sees it, over whatever holds its items. */
export function viewSlice<Item>(slice: Slice<Item>, read: () => Items<unknown>, write: (change: Change) => void): SliceView<Item> {
  const check = (items: Items<unknown>): Items<Item> => (slice.read ? (items as Items<Item>).checked((item) => readItem(slice, item)) : (items as Items<Item>))
  const items = (): Items<Item> => check(read())
  const change = (apply: (items: Items<Item>) => Items<Item>, replaces = false): void => write({ apply: (now) => apply(check(now)), replaces })
  return {
    latest: () => items().latest,
    all: () => items().all,
    where: (predicate) => items().all.filter(predicate),
    append: (...added) => change((now) => now.append(added)),
    replace: (next) => change(() => Items.of(next), true),
    upsert: (item) => change((now) => upsert(slice, now, item)),
    clear: (predicate) => change((now) => (predicate ? Items.of(now.all.filter((item) => !predicate(item))) : Items.none)),
    reduce: (reducer, event) => change((now) => Items.of(checkReduced(slice.key, reducer(now.all, event)))),
  }
}

function upsert<Item>(slice: Slice<Item>, items: Items<Item>, item: Item): Items<Item> {
  if (!slice.by) throw new ToolError('CONFIG', `slice '${slice.key}' cannot tell which items are the same: give it by, for example slice('${slice.key}', { by: (item) => item.id })`)
  const key = slice.by(item)
  const at = items.all.findIndex((other) => slice.by!(other) === key)
  return at < 0 ? items.append([item]) : Items.of(items.all.with(at, item))
}

function checkReduced<Item>(key: string, reduced: readonly Item[]): readonly Item[] {
  if (!Array.isArray(reduced)) throw new ToolError('CONFIG', `a reducer of slice '${key}' gave no list of items`)
  return reduced
}

function readItem<Item>(slice: Slice<Item>, item: unknown): Item {
  try {
    return slice.read!(item)
  } catch (error) {
    throw new ToolError('CONFIG', `slice '${slice.key}' holds something from outside that is none of its items: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
