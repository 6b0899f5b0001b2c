const MOST_ENTRIES = 2000
const LONGEST_KEY = 1000

/** Remembers what was made of a text. Texts of users come in any number, so the oldest are forgotten and long ones are never kept. */
export function boundedCache<Value>(make: (text: string) => Value): (text: string) => Value {
  const made = new Map<string, Value>()
  return (text) => {
    const known = made.get(text)
    if (known !== undefined) return known
    const value = make(text)
    if (text.length > LONGEST_KEY) return value
    if (made.size >= MOST_ENTRIES) made.delete(made.keys().next().value!)
    made.set(text, value)
    return value
  }
}
