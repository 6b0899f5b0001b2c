import type { Step, Workflow } from '../definition/workflow-type.ts'
import { splitCommand } from '../expressions/split-command.ts'

/** The names of all tools that a workflow may run, those at its end and those that take something back included. */
export function toolsOf({ steps, finally: last = [] }: Workflow): ReadonlySet<string> {
  return new Set([...steps, ...last].flatMap(toolsOfStep))
}

function toolsOfStep(step: Step): readonly string[] {
  return [...ownTools(step), ...(step.compensate ?? []).flatMap(toolsOfStep)]
}

function ownTools(step: Step): readonly string[] {
  if (step.type === 'tool') return ['command' in step ? firstWord(step.command) : step.tool]
  if (step.type === 'parallel') return step.tasks.flatMap(toolsOfStep)
  if (step.type === 'each') return step.do.flatMap(toolsOfStep)
  return step.type === 'workflow' ? [...toolsOf(step.workflow)] : []
}

function firstWord(command: string): string {
  return (splitCommand(command)[0] ?? []).join('')
}
