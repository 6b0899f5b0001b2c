/**
 * An agent's plan: its type, its limits, and how one is read from a foreign event.
 */

import { isObject } from '../util/values.ts'

/** One step of a plan. */
export type PlanStep = {
  /** From 1, never used again. */ readonly step_id: number
  /** At most 500 characters. */ readonly title: string
  readonly status: 'pending' | 'in_progress' | 'done'
}

/** What an agent has set out to do. It is completed when all its steps are done. */
export type Plan = {
  readonly objective: string
  readonly status: 'active' | 'completed'
  readonly steps: readonly PlanStep[]
}

/** How much a plan may hold; texts are counted in characters after they were trimmed. */
export const PLAN_LIMITS = { title: 500, objective: 2000, steps: 1000 } as const

/** What can become of a step. */
export const PLAN_STEP_STATUSES = [
  'pending',
  'in_progress',
  'done',
] as const satisfies readonly PlanStep['status'][]

/** A plan is completed when it has steps and all of them are done. */
export function toPlan(objective: string, steps: readonly PlanStep[]): Plan {
  return {
    objective,
    status:
      steps.length > 0 && steps.every(({ status }) => status === 'done') ? 'completed' : 'active',
    steps,
  }
}

/**
 * The plan that a JSON value of somebody else is, without what does not belong to one; undefined
 * where it is none.
 */
export function readPlan(value: unknown): Plan | undefined {
  if (!isObject(value)) return undefined
  const { objective, steps } = value
  if (
    !isTrimmedText(objective, PLAN_LIMITS.objective) ||
    !Array.isArray(steps) ||
    steps.length > PLAN_LIMITS.steps
  )
    return undefined
  const read = steps.map(readPlanStep)
  return read.every((step) => step !== undefined) &&
    new Set(read.map(({ step_id }) => step_id)).size === read.length
    ? toPlan(objective, read)
    : undefined
}

/**
 * The plan that an event of somebody else carries, as a field to be spread; none where it is not
 * one.
 */
export function readEventPlan(event: { readonly [field: string]: unknown }): {
  readonly plan?: Plan
} {
  const plan = event['plan'] === undefined ? undefined : readPlan(event['plan'])
  return plan ? { plan } : {}
}

/** True for a trimmed text of 1 to so many characters. */
export function isTrimmedText(value: unknown, most: number): value is string {
  // No character has more than two units, so a long text is told without counting.
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= 2 * most &&
    value.trim() === value &&
    Array.from(value).length <= most
  )
}

function readPlanStep(value: unknown): PlanStep | undefined {
  if (!isObject(value)) return undefined
  const { step_id, title, status } = value
  const isStatus = (PLAN_STEP_STATUSES as readonly unknown[]).includes(status)
  return Number.isSafeInteger(step_id) &&
    (step_id as number) > 0 &&
    isTrimmedText(title, PLAN_LIMITS.title) &&
    isStatus
    ? { step_id: step_id as number, title, status: status as PlanStep['status'] }
    : undefined
}
