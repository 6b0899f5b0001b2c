import type { Plan, PlanStep } from '../../contract/plan.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { drawBar } from '../../surfaces/cli/progress/line.ts'
import type { Planned } from './work-on-plan.ts'

/** The plan for a person: what is to be reached, a checklist, and a bar of what is done. */
export const renderPlanned: RenderResult = (result, { color }) => {
  const paint = createPaint(color)
  const { file, plan, done = 0, total = 0, cleared } = result as Planned
  if (!plan)
    return cleared === true
      ? `the plan in ${cleanLine(file)} is forgotten\n`
      : `there was no plan in ${cleanLine(file)}\n`
  const stand =
    total === 0
      ? 'no steps yet: toolable plan add <step>'
      : `${drawBar((done / total) * 100, paint)} ${done} of ${total} steps done${plan.status === 'completed' ? ', completed' : ''}`
  return [paint('bold', cleanLine(plan.objective)), ...listSteps(plan, paint), stand]
    .map((line) => `${line}\n`)
    .join('')
}

/** The checklist of a plan, a step a line. */
export function listSteps({ steps }: Plan, paint: Paint): readonly string[] {
  const width = String(steps.at(-1)?.step_id ?? '').length
  return steps.map((step) => describeStep(step, width, paint))
}

function describeStep({ step_id, title, status }: PlanStep, width: number, paint: Paint): string {
  const line = `${String(step_id).padStart(width)} ${cleanLine(title)}`
  if (status === 'done') return `  ${paint('green', '✔')} ${paint('dim', line)}`
  return status === 'in_progress'
    ? `  ${paint('yellow', '▸')} ${line}`
    : `  ${paint('dim', '○')} ${line}`
}
