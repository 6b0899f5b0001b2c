import { deepFreeze } from './deep-freeze.ts'

const TAIL = 64

/** A list that never changes. To append shares what is there: the cost does not grow with the list, not even where the appending call fails and the next one appends again. */
export class Items<Item> {
  static readonly none = new Items<never>([], 0, [])
  // Others may have pushed behind our length: they own what lies there.
  readonly #front: Item[]
  readonly #length: number
  readonly #tail: readonly Item[]
  #all: readonly Item[] | undefined
  #checked: Items<unknown> | undefined
  #isUnchecked = false

  private constructor(front: Item[], length: number, tail: readonly Item[]) {
    this.#front = front
    this.#length = length
    this.#tail = tail
  }

  static of<Item>(items: readonly Item[]): Items<Item> {
    for (const item of items) deepFreeze(item)
    return Items.frozen(items.slice())
  }

  /** A list of items that were in a list before; it keeps the array. */
  static frozen<Item>(items: Item[]): Items<Item> {
    return items.length === 0 ? Items.none : new Items(items, items.length, [])
  }

  /** Items that came from outside: whoever looks at them first has to check them. */
  static unchecked(items: readonly unknown[]): Items<unknown> {
    const list = Items.of(items)
    if (list !== Items.none) list.#isUnchecked = true
    return list
  }

  /** The items as `read` gives them, where they came from outside. */
  checked(read: (item: unknown) => Item): Items<Item> {
    if (!this.#isUnchecked) return this
    return (this.#checked ??= Items.of(this.all.map(read))) as Items<Item>
  }

  get latest(): Item | undefined {
    return this.#tail.length > 0 ? this.#tail.at(-1) : this.#length > 0 ? this.#front[this.#length - 1] : undefined
  }

  get all(): readonly Item[] {
    return (this.#all ??= Object.freeze([...this.#front.slice(0, this.#length), ...this.#tail]))
  }

  append(items: readonly Item[]): Items<Item> {
    for (const item of items) deepFreeze(item)
    if (this.#tail.length + items.length <= TAIL) return new Items(this.#front, this.#length, this.#tail.concat(items))
    // Never into the empty list, which everybody has and which would keep it all.
    const front = this.#length > 0 && this.#front.length === this.#length ? this.#front : this.#front.slice(0, this.#length)
    for (const item of this.#tail) front.push(item)
    for (const item of items) front.push(item)
    return new Items(front, front.length, [])
  }
}
