import { splitCommand } from '../expressions/split-command.ts'
import { walkSteps } from './walk-steps.ts'
import type { ToolStep, Workflow } from './workflow-type.ts'

/** The names of the tools that a workflow uses, its nested workflows and compensations included, each once, in the order of the text. */
export function toolsOf(workflow: Workflow): readonly string[] {
  return [
    ...new Set(
      [...walkSteps(workflow)].flatMap(({ step }) => (step.type === 'tool' ? [toolOf(step)] : [])),
    ),
  ]
}

/** The tool of a step: its name, or the first word of its command. */
export function toolOf(step: ToolStep): string {
  return 'tool' in step ? step.tool : splitCommand(step.command)[0]!.map(String).join('')
}
