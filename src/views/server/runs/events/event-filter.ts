import { isObject } from '../../../../contract/json.ts'
import type { RunEvent } from '../../../../contract/run-state.ts'
import { readFilter } from '../../../model/filter/run-filter.ts'

/** Which events of a run somebody wants to see. */
export type EventFilter = {
  /** The same for the same filter. */
  readonly key: string
  /** Whether a line may hold one, which costs less than to read it. */
  mayFit(line: string): boolean
  fits(event: RunEvent): boolean
}

const LEVELS: { readonly [type: string]: string } = {
  error: 'error',
  runner_error: 'error',
  task_error: 'error',
  runner_warning: 'warn',
  diagnostic: 'warn',
}

/** Reads a filter from the query of an address: `type`, `level` (several each), `step`, `text`, `since`, `until`. Undefined where everything is wanted. */
export function readEventFilter(query: URLSearchParams, now: number): EventFilter | undefined {
  const [types, levels] = [listOf(query, 'type'), listOf(query, 'level')]
  const step = query.get('step') ?? ''
  // To the minute, so that `2h` means the same for a while, and what was found is not looked for again.
  const { since, until, words = [] } = readFilter(query, Math.floor(now / 60_000) * 60_000)
  if (
    types.length + levels.length + words.length === 0 &&
    step === '' &&
    since === undefined &&
    until === undefined
  )
    return undefined
  // As JSON writes them.
  const written = words.map((word) => JSON.stringify(word).slice(1, -1))
  return {
    key: JSON.stringify([types, levels, step, words, since, until]),
    mayFit(line) {
      if (types.length > 0 && !types.some((type) => line.includes(`"${type}"`))) return false
      if (words.length === 0) return true
      const small = line.toLowerCase()
      return words.every((word, index) => small.includes(word) || small.includes(written[index]!))
    },
    fits(event) {
      if (types.length > 0 && !types.includes(event.type)) return false
      if (levels.length > 0 && !levels.includes(levelOf(event))) return false
      if (step !== '' && !isOfStep(event, step)) return false
      if (since === undefined && until === undefined) return true
      const at = Date.parse(event.ts)
      return at >= (since ?? -Infinity) && at <= (until ?? Infinity)
    },
  }
}

/** How grave an event is: what it says itself, else what its type says. */
function levelOf(event: RunEvent): string {
  return typeof event['level'] === 'string' && event.type !== 'runner_start'
    ? event['level']
    : (LEVELS[event.type] ?? 'info')
}

// A step and what is inside it; tasks are named after their step and try.
function isOfStep(event: RunEvent, step: string): boolean {
  const { interaction } = event
  return [
    event['step'],
    event['task_id'],
    isObject(interaction) ? interaction['key'] : undefined,
  ].some((named) => {
    if (typeof named !== 'string') return false
    const path = named.split('#')[0]!
    return path === step || path.startsWith(`${step}/`)
  })
}

function listOf(query: URLSearchParams, name: string): readonly string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .map((value) => value.trim())
    .filter(Boolean)
}
