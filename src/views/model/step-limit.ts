/**
 * How many steps of a run are kept. Shared with workflow/, which lists the steps of an execution by
 * the same rule.
 */

import type { StepState } from './run-model.ts'

type CountedStep = {
  /** How many steps are around it. */ readonly depth: number
  readonly state: StepState
}

/**
 * Steps that are going on, steps that went wrong, those of the workflow itself, and those inside
 * others: there is room for each of these by itself, so that a thousand items that went well hide
 * nothing else.
 */
type StepCategory = 'open' | 'wrong' | 'top' | 'inner'

const MAX_STEPS_PER_CATEGORY = 1000

/**
 * Whether there are more steps where this one belongs than are kept, itself among them; `total` is
 * the number of all.
 */
export function exceedsStepLimit(
  steps: Iterable<CountedStep>,
  total: number,
  one: CountedStep,
): boolean {
  if (total <= MAX_STEPS_PER_CATEGORY) return false
  const room = getCategory(one)
  let count = 0
  for (const step of steps) if (getCategory(step) === room) count += 1
  return count > MAX_STEPS_PER_CATEGORY
}

function getCategory({ depth, state }: CountedStep): StepCategory {
  switch (state) {
    case 'ok':
    case 'skipped':
      return depth > 0 ? 'inner' : 'top'
    case 'pending':
    case 'running':
    case 'waiting':
      return 'open'
    default:
      return 'wrong'
  }
}
