import type { Slice, SliceView, StateSnapshot } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { deepFreeze } from './deep-freeze.ts'
import { Items } from './items.ts'

/** The slices that roll back, by key. The map is replaced, never changed, so a snapshot is a reference. */
export type SliceMap = ReadonlyMap<string, Items<unknown>>

/** What `snapshot` gave; throws CONFIG for anything else, before it stands in the place of a state. */
export function readSnapshot(snapshot: StateSnapshot): SliceMap {
  const slices: unknown = (snapshot as StateSnapshot | null | undefined)?.slices
  if (!(slices instanceof Map) || ![...slices.values()].every((items) => items instanceof Items)) throw new ToolError('CONFIG', 'restore() takes what snapshot() gave')
  return slices as SliceMap
}

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
    replace: (next) => change(() => Items.of(checkList(next, () => `replace() of slice '${slice.key}' needs a list`)), true),
    upsert: (item) => change((now) => upsert(slice, now, item)),
    clear: (predicate) => change((now) => (predicate ? Items.frozen(now.all.filter((item) => !predicate(item))) : Items.none)),
    reduce: (reducer, event) => change((now) => Items.of(checkList(reducer(now.all, event), () => `a reducer of slice '${slice.key}' gave no list`))),
  }
}

function upsert<Item>(slice: Slice<Item>, items: Items<Item>, item: Item): Items<Item> {
  if (!slice.by) throw new ToolError('CONFIG', `slice '${slice.key}' cannot tell which items are the same: give it by, for example slice('${slice.key}', { by: (item) => item.id })`)
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
    throw new ToolError('CONFIG', `slice '${slice.key}' holds something from outside that is none of its items: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
