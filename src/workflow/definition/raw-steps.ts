import { isObject } from '../../contract/json.ts'

const LISTS = ['steps', 'finally', 'tasks', 'do', 'each', 'compensate']
const DEEPEST = 100

/** What may be a step in a definition that nobody has checked: only the keys that hold steps are followed. `own` leaves out workflows that stand in it. */
export function* rawSteps(
  workflow: unknown,
  which: 'all' | 'own' = 'all',
): Generator<{ readonly [key: string]: unknown }> {
  const seen = new Set<unknown>()
  if (isObject(workflow))
    for (const key of ['steps', 'finally'])
      yield* inside(workflow[key], which === 'own' ? LISTS : [...LISTS, 'workflow'], seen)
}

function* inside(
  value: unknown,
  keys: readonly string[],
  seen: Set<unknown>,
  depth = 0,
): Generator<{ readonly [key: string]: unknown }> {
  // Data that was made in this process may contain itself.
  if (typeof value !== 'object' || value === null || seen.has(value) || depth > DEEPEST) return
  seen.add(value)
  if (Array.isArray(value)) for (const item of value) yield* inside(item, keys, seen, depth + 1)
  if (!isObject(value)) return
  yield value
  for (const key of keys) yield* inside(value[key], keys, seen, depth + 1)
}
