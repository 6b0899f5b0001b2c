/**
 * The status of each node of a workflow graph in one run.
 */

import { compact } from '../../util/values.ts'
import type { PlannedNode } from './api.ts'
import type { NodeStatus } from './graph.ts'
import type { StepModel, StepState } from './run-model.ts'

// What of several items is told first: what somebody has to look at, then what moves, then what
// went wrong.
const STATE_ORDER: readonly StepState[] = [
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
export function getNodeStatuses(
  planned: readonly PlannedNode[],
  steps: readonly StepModel[],
): ReadonlyMap<string, NodeStatus> {
  const generalize = createKeyGeneralizer(planned)
  // A list that is tried again takes its items again: the later try counts.
  const latest = new Map<string, { readonly pattern: string; readonly step: StepModel }>()
  for (const step of steps) {
    const key = stripTryNumbers(step.key)
    latest.set(key, { pattern: generalize(key), step })
  }
  const groups = new Map<string, StepModel[]>()
  for (const { pattern, step } of latest.values())
    groups.set(pattern, [...(groups.get(pattern) ?? []), step])
  return new Map([...groups].map(([pattern, group]) => [pattern, joinSteps(pattern, group)]))
}

/** Gives the planned key of a step of a run: the position of an item becomes `*`. */
export function createKeyGeneralizer(planned: readonly PlannedNode[]): (key: string) => string {
  const lists = new Set(
    planned.flatMap(({ key }) =>
      [...key.matchAll(/\/\*(?=\/|$)/g)].map(({ index }) => key.slice(0, index)),
    ),
  )
  return (key) => {
    let pattern = ''
    for (const part of stripTryNumbers(key).split('/')) {
      const isItem = lists.has(pattern) && /^\d+$/.test(part)
      pattern += `${pattern === '' ? '' : '/'}${isItem ? '*' : part}`
    }
    return pattern
  }
}

function stripTryNumbers(key: string): string {
  return key.replaceAll(/#\d+(?=\/|$)/g, '')
}

function joinSteps(pattern: string, group: readonly StepModel[]): NodeStatus {
  const state = STATE_ORDER.find((one) => group.some((step) => step.state === one)) ?? 'pending'
  const first = group.find((step) => step.state === state)!
  const starts = group.flatMap((step) => step.began ?? [])
  const ended = group.every((step) => step.ended !== undefined)
    ? Math.max(...group.map((step) => step.ended!))
    : undefined
  const done = group.filter((step) => step.state === 'ok' || step.state === 'skipped').length
  const { percent, last, error, run_id } = first
  return compact({
    state,
    keys: group.map(({ key }) => key),
    items: pattern.includes('/*/') ? `${done} of ${group.length}` : undefined,
    tries: Math.max(...group.map(({ tries }) => tries)),
    began: starts.length > 0 ? Math.min(...starts) : undefined,
    ended,
    percent: group.length === 1 ? percent : undefined,
    last,
    error,
    run_id,
  })
}
