/** Freezes plain objects and arrays all the way down: an item that a handler could change in place would not roll back. Other objects are their owner's. */
export function deepFreeze(value: unknown): void {
  if (!isPlain(value)) return
  const inner = freezeOne(value)
  if (!inner) return
  // What is frozen already may hold what is not, and may hold itself.
  const seen = new Set<object>([value])
  for (let object = inner.pop(); object; object = inner.pop()) {
    if (seen.has(object)) continue
    seen.add(object)
    const more = freezeOne(object)
    if (more) for (const found of more) inner.push(found)
  }
}

// Gives the plain objects inside, where there are any.
function freezeOne(object: object): object[] | undefined {
  Object.freeze(object)
  let inner: object[] | undefined
  for (const key of Object.keys(object)) {
    const value = (object as { readonly [key: string]: unknown })[key]
    if (typeof value === 'object' && isPlain(value)) (inner ??= []).push(value)
  }
  return inner
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
