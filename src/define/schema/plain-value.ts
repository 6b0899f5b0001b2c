import { isPlain } from './rewrite.ts'
import type { Issue } from './schema.ts'
import type { Path } from './value-path.ts'
import { showValue } from './words.ts'

/** What of a value JSON cannot carry: functions, symbols, bigints, holes, NaN, objects with a class, circles. Absent properties are not among it. */
export function findUnjsonable(value: unknown): Issue[] {
  const found: Issue[] = []
  const ancestors = new Set<unknown>()
  const report = (path: Path, message: string) => found.push({ path, kind: 'invalid', message })
  const visit = (here: unknown, path: Path): void => {
    if (here === null || typeof here === 'string' || typeof here === 'boolean' || Number.isFinite(here)) return
    if (!isPlain(here)) {
      report(path, here === undefined ? 'must be a JSON value, got nothing' : `must be a JSON value, got ${typeof here === 'object' ? `a ${here.constructor?.name ?? 'special object'}` : showValue(here)}`)
    } else if (ancestors.has(here)) report(path, 'must not contain itself')
    else {
      ancestors.add(here)
      if (Array.isArray(here)) for (let index = 0; index < here.length; index += 1) visit(here[index], [...path, index])
      else for (const [key, item] of Object.entries(here)) if (item !== undefined) visit(item, [...path, key])
      ancestors.delete(here)
    }
  }
  visit(value, [])
  return found
}
