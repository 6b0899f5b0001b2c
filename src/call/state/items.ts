import { deepFreeze } from './deep-freeze.ts'

// So many items are copied rather than linked.
const SHORT = 32

/** Items that stand in front of others. */
type Run<Item> = {
  readonly before: Run<Item> | undefined
  readonly array: readonly Item[]
  readonly length: number
}

/** A list that never changes. To append shares what is there: the cost does not grow with the list, not even where the appending call fails and the next one appends again. */
export class Items<Item> {
  static readonly none = new Items<never>(undefined, [])
  readonly #before: Run<Item> | undefined
  // Others may have pushed behind our length: they own what lies there.
  readonly #array: Item[]
  readonly #length: number
  #all: readonly Item[] | undefined
  #checked: Items<unknown> | undefined
  #isUnchecked = false

  private constructor(before: Run<Item> | undefined, array: Item[]) {
    this.#before = before
    this.#array = array
    this.#length = array.length
  }

  static of<Item>(items: readonly Item[]): Items<Item> {
    for (const item of items) deepFreeze(item)
    return Items.frozen(items.slice())
  }

  /** A list of items that were in a list before; it keeps the array. */
  static frozen<Item>(items: Item[]): Items<Item> {
    return items.length === 0 ? Items.none : new Items(undefined, items)
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

  append(items: readonly Item[]): Items<Item> {
    if (items.length === 0) return this
    for (const item of items) deepFreeze(item)
    // Never into the empty list, which everybody has and which would keep it all.
    return this.#length > 0 && this.#array.length === this.#length
      ? Items.#grown(this.#before, this.#array, items)
      : this.#branch(items)
  }

  // Another has pushed behind us. As many as it pushed can be copied for the same price, and then nobody keeps what it left there.
  #branch(items: readonly Item[]): Items<Item> {
    if (this.#length <= Math.max(SHORT, this.#array.length - this.#length))
      return Items.#grown(this.#before, this.#array.slice(0, this.#length), items)
    return Items.#grown(
      { before: this.#before, array: this.#array, length: this.#length },
      [],
      items,
    )
  }

  static #grown<Item>(
    before: Run<Item> | undefined,
    array: Item[],
    items: readonly Item[],
  ): Items<Item> {
    for (const item of items) array.push(item)
    return new Items(before, array)
  }
}
