/**
 * Walks over all steps of a definition, including nested workflows and compensation.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { splitCommand } from '../command-line.ts'
import type { ToolStep, Workflow, WorkflowStep } from './model.ts'

/** A step, the keys that lead to it in the definition, and its key in an execution. */
export type WalkedStep = {
  readonly step: WorkflowStep
  readonly path: KeyPath
  readonly key: string
  readonly depth: number
  /** The steps around it, from the outermost. */ readonly around: readonly WorkflowStep[]
}

/**
 * Every step of a workflow in the order in which it is written, those of nested workflows and
 * compensations among them.
 */
export function* walkSteps(workflow: Workflow): Generator<WalkedStep> {
  yield* walkWorkflow(workflow, [], '', [])
}

function* walkWorkflow(
  workflow: Workflow,
  path: KeyPath,
  before: string,
  around: readonly WorkflowStep[],
): Generator<WalkedStep> {
  yield* walkList(workflow.steps, [...path, 'steps'], before, around)
  if (workflow.finally)
    yield* walkList(workflow.finally, [...path, 'finally'], `${before}finally/`, around)
}

function* walkList(
  steps: readonly WorkflowStep[],
  path: KeyPath,
  before: string,
  around: readonly WorkflowStep[],
): Generator<WalkedStep> {
  for (const [index, step] of steps.entries()) {
    const here = [...path, index]
    const key = `${before}${step.name}`
    yield { step, path: here, key, depth: around.length, around }
    const inner = [...around, step]
    if (step.type === 'parallel') yield* walkList(step.tasks, [...here, 'tasks'], `${key}/`, inner)
    if (step.type === 'each') yield* walkList(step.do, [...here, 'do'], `${key}/*/`, inner)
    if (step.type === 'workflow')
      yield* walkWorkflow(step.workflow, [...here, 'workflow'], `${key}/`, inner)
    if (step.compensate)
      yield* walkList(step.compensate, [...here, 'compensate'], `${key}~undo/`, inner)
  }
}

/**
 * The names of the tools that a workflow uses, its nested workflows and compensations included,
 * each once, in the order of the text.
 */
export function listToolNames(workflow: Workflow): readonly string[] {
  return [
    ...new Set(
      [...walkSteps(workflow)].flatMap(({ step }) =>
        step.type === 'tool' ? [getToolName(step)] : [],
      ),
    ),
  ]
}

/** The tool of a step: its name, or the first word of its command. */
export function getToolName(step: ToolStep): string {
  return 'tool' in step ? step.tool : splitCommand(step.command)[0]!.map(String).join('')
}
