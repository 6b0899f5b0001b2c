import { isObject } from '../../contract/json.ts'

const LISTS = ['steps', 'finally', 'tasks', 'do', 'each', 'compensate']
const DEEPEST = 100

/** What may be a step in a definition that nobody has checked: only the keys that hold steps are followed. `own` leaves out workflows that stand in it. */
export function* rawSteps(workflow: unknown, which: 'all' | 'own' = 'all'): Generator<{ readonly [key: string]: unknown }> {
  if (isObject(workflow)) for (const key of ['steps', 'finally']) yield* inside(workflow[key], which === 'own' ? LISTS : [...LISTS, 'workflow'], 0)
}

function* inside(value: unknown, keys: readonly string[], depth: number): Generator<{ readonly [key: string]: unknown }> {
  if (depth > DEEPEST) return
  if (Array.isArray(value)) for (const item of value) yield* inside(item, keys, depth + 1)
  if (!isObject(value)) return
  yield value
  for (const key of keys) yield* inside(value[key], keys, depth + 1)
}
