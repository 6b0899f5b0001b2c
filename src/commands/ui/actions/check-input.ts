import type { JsonObject } from '../../../contract/json.ts'
import type { ToolError } from '../../../contract/tool-error.ts'
import { validateInput } from '../../../call/validate.ts'
import { compileSchema } from '../../../define/schema/compile.ts'
import { issuesToError } from '../../../define/schema/issues.ts'
import type { Workflow } from '../../../workflow/definition/workflow-type.ts'
import type { Project } from '../project.ts'
import type { FreshTool } from './find-tool.ts'

/** What is wrong with the input of a tool, as every surface says it; undefined where nothing is. */
export function findInputProblem(
  { entry, workflow }: Pick<FreshTool, 'entry' | 'workflow'>,
  input: JsonObject,
  { cwd, env }: Pick<Project, 'cwd' | 'env'>,
): Promise<ToolError | undefined> {
  return workflow
    ? findWorkflowProblem(workflow.workflow, input)
    : validateInput(entry.definition, input, { cwd, env })
}

/** The same for a workflow, by the definition that would be executed. */
export async function findWorkflowProblem(
  { input: schema }: Workflow,
  input: JsonObject,
): Promise<ToolError | undefined> {
  const checked = schema && (await compileSchema(schema, 'input').check(input))
  return checked && !checked.ok ? issuesToError(checked.issues, { input }) : undefined
}
