import { ToolError } from '../../contract/tool-error.ts'

const DEEPEST = 500

/** Whether two values are the same JSON: the order of keys does not count, that of lists does. */
export function equalJson(left: unknown, right: unknown, depth = 0): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return (left ?? null) === (right ?? null)
  if (depth > DEEPEST)
    throw new ToolError(
      'INVALID_INPUT',
      `values with more than ${DEEPEST} levels cannot be compared`,
    )
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) && equalJson(left[key as never], right[key as never], depth + 1),
  )
}
