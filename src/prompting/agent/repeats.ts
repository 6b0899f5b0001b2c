/** How often a call may be repeated with the same answer before the model is told. */
const ENOUGH = 3

/** Remembers calls and what came of them. */
export type Repeats = {
  /** Advice to go with the answer, where the same call has had the same answer too often. */
  notice(name: string, input: unknown, text: string): string | undefined
}

/** Looks for calls that lead nowhere. */
export function watchRepeats(): Repeats {
  const known = new Map<string, { readonly text: string; readonly times: number }>()
  return {
    notice(name, input, text) {
      const key = `${name} ${JSON.stringify(sorted(input))}`
      const before = known.get(key)
      const times = before?.text === text ? before.times + 1 : 1
      known.set(key, { text, times })
      return times < ENOUGH
        ? undefined
        : `[You have made this very call ${times} times, and the answer was the same each time. Do not repeat it: use what you know, try another way, or say that you cannot go on.]`
    },
  }
}

// The order of fields means nothing.
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
