import { closest } from '../../../../contract/did-you-mean.ts'
import { isObject } from '../../../../contract/json.ts'

/** All values at a dotted path. Lists on the way are walked through; a key that really contains the dots wins. */
export function valuesAt(value: unknown, path: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path))
  if (!isObject(value)) return []
  if (Object.hasOwn(value, path)) return [value[path]].flat()
  const dot = path.indexOf('.')
  const head = path.slice(0, dot)
  return dot > 0 && Object.hasOwn(value, head) ? valuesAt(value[head], path.slice(dot + 1)) : []
}

/** True when the path leads to something in the value, also to null or an empty list. */
export function hasPath(value: unknown, path: string): boolean {
  if (Array.isArray(value)) return value.some((item) => hasPath(item, path))
  if (!isObject(value)) return false
  if (Object.hasOwn(value, path)) return true
  const dot = path.indexOf('.')
  const head = path.slice(0, dot)
  if (dot <= 0 || !Object.hasOwn(value, head)) return false
  const inner = value[head]
  // An empty list or null says nothing about what its items would have.
  return (
    inner === null ||
    (Array.isArray(inner) && inner.length === 0) ||
    hasPath(inner, path.slice(dot + 1))
  )
}

const MOST_PATHS = 200

/** Dotted paths that exist in some of the values, for suggestions: a sample, three levels deep. */
export function listPaths(values: readonly unknown[]): string[] {
  const paths = new Set<string>()
  for (const value of values.slice(0, 100)) collect(value, '', 0, paths)
  return [...paths]
}

/** The path that was probably meant, among those of the values. */
export function nearestPath(path: string, values: readonly unknown[]): string | undefined {
  const paths = listPaths(values)
  return closest(path, paths) ?? paths.find((known) => known.endsWith(`.${path}`))
}

function collect(value: unknown, prefix: string, depth: number, paths: Set<string>): void {
  if (Array.isArray(value)) return collect(value[0], prefix, depth, paths)
  if (!isObject(value) || depth > 2) return
  for (const key of Object.keys(value)) {
    if (paths.size >= MOST_PATHS) return
    paths.add(prefix + key)
    collect(value[key], `${prefix}${key}.`, depth + 1, paths)
  }
}
