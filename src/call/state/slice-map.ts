import type { Items } from './items.ts'

/** The slices that roll back, by key. It never changes, so a snapshot is a reference. Its versions share the places of the keys: a list is copied in a tenth of the time of a `Map`. */
export class SliceMap {
  // It only grows, also by the keys of calls that fail.
  readonly #places: Map<string, number>
  readonly #items: readonly (Items<unknown> | undefined)[]

  private constructor(places: Map<string, number>, items: readonly (Items<unknown> | undefined)[]) {
    this.#places = places
    this.#items = items
  }

  static of(entries: Iterable<readonly [string, Items<unknown>]>): SliceMap {
    const items = new Map(entries)
    return new SliceMap(new Map(Array.from(items.keys(), (key, place) => [key, place])), [
      ...items.values(),
    ])
  }

  get(key: string): Items<unknown> | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#items[place]
  }

  /** The same with other items of one slice; without any it is as if it had never been there. */
  with(key: string, items: Items<unknown> | undefined): SliceMap {
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
