import type { Slice, SliceView, State, StateSnapshot } from '../contract/state.ts'

/** A typed place in the state. Default kind: `state`, which rolls back when a call fails. */
export function slice<Item>(key: string, options: { readonly kind?: 'state' | 'log' } = {}): Slice<Item> {
  return { key, kind: options.kind ?? 'state' }
}

/** A store in memory. Lists are replaced, never changed, so a snapshot costs one small map. */
export function createState(): State {
  const slices = new Map<string, { readonly kind: 'state' | 'log'; readonly items: readonly unknown[] }>()

  const view = <Item>({ key, kind }: Slice<Item>): SliceView<Item> => {
    const read = (): readonly Item[] => (slices.get(key)?.items ?? []) as readonly Item[]
    const write = (items: readonly Item[]): void => void slices.set(key, { kind, items })
    return {
      latest: () => read().at(-1),
      all: read,
      where: (predicate) => read().filter(predicate),
      append: (...items) => write([...read(), ...items]),
      replace: (items) => write([...items]),
    }
  }
  return {
    get: view,
    snapshot: (): StateSnapshot => ({ slices: new Map([...slices].filter(([, { kind }]) => kind === 'state').map(([key, { items }]) => [key, items])) }),
    restore(snapshot) {
      for (const [key, { kind }] of slices) if (kind === 'state' && !snapshot.slices.has(key)) slices.delete(key)
      for (const [key, items] of snapshot.slices) slices.set(key, { kind: 'state', items })
    },
  }
}
