import type { Plan } from '../../contract/plan.ts'
import { countSteps } from './plan-model.ts'

const MARKS = { pending: ' ', in_progress: ' ', done: 'x' } as const

/** The plan as a model reads it: one line about the whole, then a Markdown checklist. */
export function renderPlan(plan: Plan): string {
  const { done, total } = countSteps(plan)
  const stand = total === 0 ? 'no steps yet' : `${done} of ${total} steps done`
  return [
    `Plan (${plan.status}, ${stand}): ${oneLine(plan.objective)}`,
    ...plan.steps.map(
      ({ step_id, title, status }) =>
        `- [${MARKS[status]}] ${step_id}. ${oneLine(title)}${status === 'in_progress' ? ' (in progress)' : ''}`,
    ),
  ].join('\n')
}

/** How far a plan is, as a progress event tells it: the share of its steps, and what is being done or comes next. No percentage where there are no steps. */
export function describeProgress(plan: Plan): {
  readonly message: string
  readonly percent: number | undefined
} {
  const { done, total } = countSteps(plan)
  const current =
    plan.steps.find(({ status }) => status === 'in_progress') ??
    plan.steps.find(({ status }) => status === 'pending')
  const what = oneLine(current?.title ?? plan.objective)
  if (total === 0) return { message: `no steps yet: ${what}`, percent: undefined }
  return {
    message: `${done} of ${total} steps done: ${what}`,
    percent: Math.round((done / total) * 100),
  }
}

// A title with a line break would look like another item.
function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
