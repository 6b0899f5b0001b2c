/** Keeps the most recently used values; the one unused for longest is dropped first. */
export class RecentCache<Value> {
  private readonly values = new Map<string, Value>()
  private readonly size: number

  constructor(size: number) {
    this.size = size
  }

  /** Returns the value of a key, and creates it when it is not kept. */
  get(key: string, create: () => Value): Value {
    const value = this.values.has(key) ? this.values.get(key)! : create()
    this.values.delete(key)
    this.values.set(key, value)
    if (this.values.size > this.size) this.values.delete(this.values.keys().next().value!)
    return value
  }
}
