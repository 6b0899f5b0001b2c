import type { Slice, SliceView, State, StateSnapshot } from '../contract/state.ts'

/** The state as one call sees it: what it writes is its own until `commit`. */
export type Transaction = {
  readonly state: State
  commit(): void
}

type Touched = { readonly slice: Slice<unknown>; items: readonly unknown[]; replaced: boolean; readonly appended: unknown[] }

/** Opens the state for one call, as it is now: other calls at the same time change nothing in it. Log slices are written at once, because they stay whatever happens, but not after the call is over. */
export function beginTransaction(base: State, isOver: () => boolean): Transaction {
  const before = base.snapshot().slices
  const touched = new Map<string, Touched>()

  const touch = (slice: Slice<unknown>): Touched => {
    const known = touched.get(slice.key)
    if (known) return known
    const fresh: Touched = { slice, items: before.get(slice.key) ?? [], replaced: false, appended: [] }
    touched.set(slice.key, fresh)
    return fresh
  }
  const read = (key: string): readonly unknown[] => touched.get(key)?.items ?? before.get(key) ?? []
  const replace = (slice: Slice<unknown>, items: readonly unknown[]): void => void Object.assign(touch(slice), { items, replaced: true })

  const viewState = <Item>(slice: Slice<Item>): SliceView<Item> => {
    const all = (): readonly Item[] => read(slice.key) as readonly Item[]
    return {
      latest: () => all().at(-1),
      all,
      where: (predicate) => all().filter(predicate),
      append(...items) {
        const own = touch(slice)
        own.items = [...own.items, ...items]
        own.appended.push(...items)
      },
      replace: (items) => replace(slice, [...items]),
    }
  }
  const viewLog = <Item>(slice: Slice<Item>): SliceView<Item> => {
    const view = base.get(slice)
    return { ...view, append: (...items) => { if (!isOver()) view.append(...items) }, replace: (items) => { if (!isOver()) view.replace(items) } }
  }

  const state: State = {
    get: (slice) => (slice.kind === 'log' ? viewLog(slice) : viewState(slice)),
    snapshot: (): StateSnapshot => ({ slices: new Map([...before.keys(), ...touched.keys()].map((key) => [key, read(key)])) }),
    restore({ slices }) {
      for (const key of new Set([...before.keys(), ...touched.keys(), ...slices.keys()])) replace({ key, kind: 'state' }, slices.get(key) ?? [])
    },
  }
  return {
    state,
    commit() {
      for (const { slice, items, replaced, appended } of touched.values()) {
        const view = base.get(slice)
        // What other calls appended meanwhile stays.
        if (replaced) view.replace(items)
        else if (appended.length > 0) view.replace([...view.all(), ...appended])
      }
    },
  }
}
