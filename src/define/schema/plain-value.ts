import { isPlain } from './rewrite.ts'
import type { Issue } from './schema.ts'
import { showValue } from './words.ts'

const MOST_FOUND = 100

/** What of a value JSON cannot carry: functions, symbols, bigints, holes, NaN, objects with a class, circles. A property that is `undefined` is a gap, not a fault. */
export function findUnjsonable(value: unknown): {
  readonly issues: readonly Issue[]
  readonly hasGaps: boolean
} {
  const issues: Issue[] = []
  const ancestors = new Set<unknown>()
  const path: (string | number)[] = []
  let hasGaps = false
  const enter = (key: string | number, here: unknown): void => {
    path.push(key)
    visit(here)
    path.pop()
  }
  const visit = (here: unknown): void => {
    if (
      here === null ||
      typeof here === 'string' ||
      typeof here === 'boolean' ||
      Number.isFinite(here) ||
      issues.length > MOST_FOUND
    )
      return
    if (!isPlain(here))
      issues.push({
        path: [...path],
        kind: 'invalid',
        message: `must be a JSON value, got ${nameKind(here)}`,
      })
    else if (ancestors.has(here))
      issues.push({ path: [...path], kind: 'invalid', message: 'must not contain itself' })
    else {
      ancestors.add(here)
      // Not forEach: it would jump over holes.
      // Past the most that are told, the rest is not looked at: a list may have billions of holes.
      if (Array.isArray(here))
        for (let index = 0; index < here.length && issues.length <= MOST_FOUND; index += 1)
          enter(index, here[index])
      else {
        for (const [key, item] of Object.entries(here)) {
          if (item === undefined) hasGaps = true
          else enter(key, item)
        }
      }
      ancestors.delete(here)
    }
  }
  visit(value)
  return { issues, hasGaps }
}

/** The same JSON value without the properties that are `undefined`. */
export function dropGaps(value: unknown): unknown {
  if (!isPlain(value)) return value
  if (Array.isArray(value)) return value.map(dropGaps)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, dropGaps(item)]),
  )
}

function nameKind(value: unknown): string {
  if (typeof value !== 'object' || value === null) return showValue(value)
  const name: unknown = (value.constructor as { name?: unknown } | undefined)?.name
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'a special object'
}
