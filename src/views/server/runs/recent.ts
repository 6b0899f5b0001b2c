/** The last few of something, by name: what nobody asked for longest goes first. */
export type Recent<Value> = {
  get(key: string, make: () => Value): Value
  delete(key: string): void
  readonly size: number
}

/** Keeps so many. */
export function keepRecent<Value>(most: number): Recent<Value> {
  const kept = new Map<string, Value>()
  return {
    get(key, make) {
      const value = kept.has(key) ? kept.get(key)! : make()
      kept.delete(key)
      kept.set(key, value)
      if (kept.size > most) kept.delete(kept.keys().next().value!)
      return value
    },
    delete: (key) => void kept.delete(key),
    get size() {
      return kept.size
    },
  }
}
