import type { Plan, PlanStep } from '../../contract/plan.ts'
import { isText, PLAN_LIMITS, planOf } from '../../contract/read-plan.ts'
import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** What becomes of a step; at least one of both. */
export type StepChange = { readonly title?: string; readonly status?: PlanStep['status'] }

/** How a surface names the ways to change a plan, so that advice can be followed where it is read. */
export type PlanWords = {
  readonly setup: string
  readonly update: string
  readonly read: string
  /** What a list of first steps is called. */ readonly steps: string
  /** What a step is named by. */ readonly id: string
}

/** A new plan. Throws INVALID_INPUT for a text that is empty or too long. */
export function newPlan(objective: string, titles: readonly string[], words: PlanWords): Plan {
  return planOf(
    trimmed(objective, 'objective', PLAN_LIMITS.objective),
    append([], titles, words.steps),
  )
}

/** The plan with more steps behind its own. Throws CONFLICT where it is completed. */
export function withSteps(plan: Plan, titles: readonly string[], words: PlanWords): Plan {
  requireActive(plan, words)
  if (titles.length === 0)
    throw new ToolError('INVALID_INPUT', 'there has to be at least one step to add', {
      field: 'steps',
      suggestion: 'Give the title of at least one step',
    })
  return planOf(plan.objective, append(plan.steps, titles, 'steps'))
}

/** The plan with one step changed. Throws NOT_FOUND for an unknown step, and CONFLICT where the plan is completed. */
export function withChange(
  plan: Plan,
  id: number,
  { title, status }: StepChange,
  words: PlanWords,
): Plan {
  if (title === undefined && status === undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `nothing to change in step ${id}: neither a title nor a status was given`,
      { field: 'status', suggestion: 'Give a title, a status or both' },
    )
  requireActive(plan, words)
  if (!plan.steps.some(({ step_id }) => step_id === id)) throw unknownStep(plan, id, words)
  const change = {
    ...(title !== undefined && { title: trimmed(title, 'title', PLAN_LIMITS.title) }),
    ...(status !== undefined && { status }),
  }
  return planOf(
    plan.objective,
    plan.steps.map((step) => (step.step_id === id ? { ...step, ...change } : step)),
  )
}

/** The plan itself. Throws PRECONDITION where there is none. */
export function requirePlan(plan: Plan | undefined, words: PlanWords): Plan {
  if (plan) return plan
  throw new ToolError('PRECONDITION', 'there is no plan yet', {
    suggestion: { action: 'use_different_tool', fix: `Make one first: ${words.setup}` },
  })
}

/** The plan as it is now, where it still is the one that was seen: only a status may differ, because what was answered names its steps by number. Throws CONFLICT otherwise. */
export function requireSameSteps(seen: Plan, now: Plan, words: PlanWords): Plan {
  const isSame =
    now === seen ||
    (now.objective === seen.objective &&
      now.steps.length === seen.steps.length &&
      now.steps.every(
        ({ step_id, title }, index) =>
          seen.steps[index]!.step_id === step_id && seen.steps[index]!.title === title,
      ))
  if (isSame) return now
  throw new ToolError('CONFLICT', 'the plan was changed by another call at the same time', {
    retryable: true,
    suggestion: `Look at the plan and try again: ${words.read}`,
  })
}

/** Steps that are done, and all of them. */
export function countSteps({ steps }: Plan): { readonly done: number; readonly total: number } {
  return { done: steps.filter(({ status }) => status === 'done').length, total: steps.length }
}

function append(
  steps: readonly PlanStep[],
  titles: readonly string[],
  field: string,
): readonly PlanStep[] {
  if (steps.length + titles.length > PLAN_LIMITS.steps)
    throw new ToolError(
      'INVALID_INPUT',
      `a plan has at most ${PLAN_LIMITS.steps} steps, and this one would have ${steps.length + titles.length}`,
      { field, suggestion: 'Put small steps together' },
    )
  const last = steps.reduce((highest, { step_id }) => Math.max(highest, step_id), 0)
  return [
    ...steps,
    ...titles.map((title, index): PlanStep => ({
      step_id: last + 1 + index,
      title: trimmed(title, `${field}.${index}`, PLAN_LIMITS.title),
      status: 'pending',
    })),
  ]
}

function trimmed(given: string, field: string, most: number): string {
  const text = given.trim()
  if (isText(text, most)) return text
  const problem =
    text === '' ? 'is empty' : `has ${Array.from(text).length} characters, and ${most} are the most`
  throw new ToolError('INVALID_INPUT', `${field}: the text ${problem}`, {
    field,
    suggestion:
      text === ''
        ? 'Say in a few words what is to be done'
        : 'Say it shorter, or make several steps of it',
  })
}

function requireActive({ status, objective }: Plan, { setup }: PlanWords): void {
  if (status === 'completed')
    throw new ToolError(
      'CONFLICT',
      `the plan '${shorten(objective, 80)}' is completed, and closed to changes`,
      { suggestion: { action: 'use_different_tool', fix: `Begin a new plan: ${setup}` } },
    )
}

function unknownStep({ steps }: Plan, id: number, { read, id: field }: PlanWords): ToolError {
  const ids = steps.map(({ step_id }) => step_id)
  const known =
    ids.length === 0
      ? 'the plan has no steps yet'
      : `the steps are ${ids.length > 20 ? `${ids.slice(0, 20).join(', ')}, ...` : ids.join(', ')}`
  return new ToolError('NOT_FOUND', `there is no step ${id}; ${known}`, {
    field,
    details: { step_ids: ids.slice(0, 100) },
    suggestion: `Look at the plan: ${read}`,
  })
}
