import { ToolError } from '../../contract/tool-error.ts'

const DEEPEST = 500

/** A copy of a JSON value with every text in it changed. Throws INVALID_INPUT for one that is nested without end. */
export function copyJson(value: unknown, onText: (text: string) => unknown, depth = 0): unknown {
  if (typeof value === 'string') return onText(value)
  if (typeof value !== 'object' || value === null) return value ?? null
  if (depth > DEEPEST)
    throw new ToolError('INVALID_INPUT', `the value has more than ${DEEPEST} levels`)
  if (Array.isArray(value)) return value.map((item) => copyJson(item, onText, depth + 1))
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(value)) {
    const inside = copyJson(value[key as never], onText, depth + 1)
    // Assigned, this one key would become the prototype.
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: inside,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    else copy[key] = inside
  }
  return copy
}
