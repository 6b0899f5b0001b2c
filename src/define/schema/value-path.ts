import { lateExpression } from '../../contract/late-expression.ts'

const WORD = lateExpression('^[\\p{L}\\p{N}_$-]+$')

/** The way from a value to one of its parts. */
export type Path = readonly (string | number)[]

/** A path as people write it: `filter.max[0]`; empty for the whole value. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    if (!/^[\w$-]+$/.test(part) && !WORD().test(part)) return `${text}[${JSON.stringify(part)}]`
    return text === '' ? part : `${text}.${part}`
  }, '')
}

/** True when `path` is at or below `start`. */
export function startsWith(path: Path, start: Path): boolean {
  return (
    start.length <= path.length &&
    start.every((part, index) => String(part) === String(path[index]))
  )
}

/** A path with list positions as numbers, as the value has them. */
export function alignPath(path: readonly PropertyKey[], value: unknown): Path {
  let here: unknown = value
  return path.map((part) => {
    const key = Array.isArray(here) && /^\d+$/.test(String(part)) ? Number(part) : String(part)
    here = valueAt(here, [key])
    return key
  })
}

/** The part of a value that a path leads to, own members only. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((here, key) => {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined
    return (here as Record<string | number, unknown>)[key]
  }, value)
}
