import { ToolError } from '../../../src/contract/tool-error.ts'
import { readWorkflow } from '../../../src/workflow/definition/read-workflow.ts'
import type { WorkflowProblem } from '../../../src/workflow/definition/finding.ts'

/** The lines that a definition in YAML is refused with; empty for a good one. */
export async function problemsIn(text: string, file = 'flow.yaml'): Promise<readonly string[]> {
  try {
    await readWorkflow(file, text)
    return []
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'CONFIG') throw error
    return error.message.split('\n')
  }
}

/** The problems of a CONFIG error. */
export function problemsOf(error: unknown): readonly WorkflowProblem[] {
  if (!ToolError.is(error) || error.code !== 'CONFIG') throw error
  return error.details!['problems'] as readonly WorkflowProblem[]
}
