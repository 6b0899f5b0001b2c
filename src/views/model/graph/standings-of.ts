import type { StepModel, StepState } from '../run-model/run-model-type.ts'
import type { PlannedNode } from '../wire/workflows.ts'
import type { NodeStanding } from './graph-type.ts'

// What of several items is told first: what somebody has to look at, then what moves, then what went wrong.
const ORDER: readonly StepState[] = [
  'waiting',
  'running',
  'failed',
  'interrupted',
  'cancelled',
  'ok',
  'skipped',
  'pending',
]

/** How each planned step stands in a run, by its key; one that has not begun is not there. */
export function standingsOf(
  planned: readonly PlannedNode[],
  steps: readonly StepModel[],
): ReadonlyMap<string, NodeStanding> {
  const generalize = generalizer(planned)
  // A list that is tried again takes its items again: the later try counts.
  const latest = new Map<string, { readonly pattern: string; readonly step: StepModel }>()
  for (const step of steps) {
    const key = withoutTries(step.key)
    latest.set(key, { pattern: generalize(key), step })
  }
  const groups = new Map<string, StepModel[]>()
  for (const { pattern, step } of latest.values())
    groups.set(pattern, [...(groups.get(pattern) ?? []), step])
  return new Map([...groups].map(([pattern, group]) => [pattern, join(pattern, group)]))
}

/** Gives the planned key of a step of a run: the position of an item becomes `*`. */
export function generalizer(planned: readonly PlannedNode[]): (key: string) => string {
  const lists = new Set(
    planned.flatMap(({ key }) =>
      [...key.matchAll(/\/\*(?=\/|$)/g)].map(({ index }) => key.slice(0, index)),
    ),
  )
  return (key) => {
    let pattern = ''
    for (const part of withoutTries(key).split('/'))
      pattern +=
        pattern === '' ? part : lists.has(pattern) && /^\d+$/.test(part) ? '/*' : `/${part}`
    return pattern
  }
}

function withoutTries(key: string): string {
  return key.replaceAll(/#\d+(?=\/|$)/g, '')
}

function join(pattern: string, group: readonly StepModel[]): NodeStanding {
  const state = ORDER.find((one) => group.some((step) => step.state === one)) ?? 'pending'
  const first = group.find((step) => step.state === state)!
  const began = smallest(group.map((step) => step.began))
  const ended = group.every((step) => step.ended !== undefined)
    ? Math.max(...group.map((step) => step.ended!))
    : undefined
  const done = group.filter((step) => step.state === 'ok' || step.state === 'skipped').length
  const { percent, last, error, run_id } = first
  return {
    state,
    keys: group.map(({ key }) => key),
    ...(pattern.includes('/*/') && { items: `${done} of ${group.length}` }),
    tries: Math.max(...group.map(({ tries }) => tries)),
    ...(began !== undefined && { began }),
    ...(ended !== undefined && { ended }),
    ...(percent !== undefined && group.length === 1 && { percent }),
    ...(last !== undefined && { last }),
    ...(error !== undefined && { error }),
    ...(run_id !== undefined && { run_id }),
  }
}

function smallest(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce<number | undefined>(
    (least, value) =>
      value === undefined || (least !== undefined && least <= value) ? least : value,
    undefined,
  )
}
