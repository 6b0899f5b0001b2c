/** Freezes plain objects and arrays all the way down: an item that a handler could change in place would not roll back. Other objects are their owner's. */
export function deepFreeze(value: unknown): void {
  if (!isOpen(value)) return
  const found: object[] = [value]
  for (let object = found.pop(); object; object = found.pop()) {
    Object.freeze(object)
    for (const key of Reflect.ownKeys(object)) {
      const inner = Object.getOwnPropertyDescriptor(object, key)!.value as unknown
      if (isOpen(inner)) found.push(inner)
    }
  }
}

function isOpen(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
