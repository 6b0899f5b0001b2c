import { isObject } from '../../../../contract/json.ts'

/** A list inside a result, and the way to put a changed one in its place. */
export type FoundList = {
  readonly items: readonly unknown[]
  readonly replace: (items: readonly unknown[]) => unknown
  readonly key?: string
}

/** The list of a result: the result itself, or the only list among the properties of an object; undefined for anything else. */
export function findList(result: unknown): FoundList | undefined {
  if (Array.isArray(result)) return { items: result, replace: (items) => items }
  if (!isObject(result)) return undefined
  const keys = Object.keys(result).filter((key) => Array.isArray(result[key]))
  const key = keys[0]
  if (key === undefined || keys.length > 1) return undefined
  return {
    items: result[key] as readonly unknown[],
    key,
    replace: (items) =>
      Object.fromEntries(
        Object.entries(result).map(([name, value]) => [name, name === key ? items : value]),
      ),
  }
}
