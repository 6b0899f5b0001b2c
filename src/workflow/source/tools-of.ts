import { walkSteps } from '../definition/walk-steps.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { splitCommand } from '../expressions/split-command.ts'

/** The names of all tools that a workflow may run, those at its end and those that take something back included. */
export function toolsOf(workflow: Workflow): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { step } of walkSteps(workflow)) if (step.type === 'tool') names.add('command' in step ? firstWord(step.command) : step.tool)
  return names
}

function firstWord(command: string): string {
  return (splitCommand(command)[0] ?? []).join('')
}
