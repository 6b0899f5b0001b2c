import { ToolError } from '../../../src/protocol/tool-error.ts'
import { parseWorkflowText } from '../../../src/workflow/definition/load.ts'
import type { WorkflowProblem } from '../../../src/workflow/definition/reader.ts'

/** The lines that a definition in YAML is refused with; empty for a good one. */
export async function problemsIn(text: string, file = 'flow.yaml'): Promise<readonly string[]> {
  try {
    await parseWorkflowText(file, text)
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
