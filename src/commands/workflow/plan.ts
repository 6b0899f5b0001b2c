import { compileSchema } from '../../define/schema/compile.ts'
import { issuesToError } from '../../define/schema/issues.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { loadWorkflow } from '../../workflow/definition/load-workflow.ts'
import type { Workflow } from '../../workflow/definition/workflow-type.ts'
import { planOf } from '../../workflow/outline/plan-of.ts'
import type { WorkflowPlan } from '../../workflow/outline/plan-of.ts'
import { planText } from '../../workflow/outline/plan-text.ts'
import { findWorkflow } from './find-workflow.ts'

/** The plan of a workflow; throws CONFIG for one that is wrong, INVALID_INPUT for an input that does not fit it. */
export async function planWorkflow(
  {
    workflow: given,
    input,
    config,
  }: { readonly workflow: string; readonly input?: object; readonly config?: string },
  { cwd }: { readonly cwd: string },
): Promise<WorkflowPlan> {
  const workflow = await loadWorkflow(await findWorkflow(given, { cwd, config }), { cwd })
  return input === undefined ? planOf(workflow) : planWithInput(workflow, input)
}

/** The plan of a workflow with an input; throws INVALID_INPUT for one that does not fit. */
export async function planWithInput(workflow: Workflow, input: object): Promise<WorkflowPlan> {
  return planOf(workflow, await checkedInput(workflow, input))
}

/** The plan for a person. */
export const renderPlan: RenderResult = (result) => planText(result as WorkflowPlan)

async function checkedInput({ input: schema }: Workflow, input: object): Promise<unknown> {
  if (schema === undefined) return input
  const checked = await compileSchema(schema, 'input').check(input)
  if (!checked.ok) throw issuesToError(checked.issues, { input })
  return checked.value
}
