import type { KeyPath } from '../../contract/documents/document.ts'
import type { Step, Workflow } from './workflow-type.ts'

/** A step, the keys that lead to it in the definition, and its key in an execution. */
export type Walked = {
  readonly step: Step
  readonly path: KeyPath
  readonly key: string
  readonly depth: number
  /** The steps around it, from the outermost. */ readonly around: readonly Step[]
}

/** Every step of a workflow in the order in which it is written, those of nested workflows and compensations among them. */
export function* walkSteps(workflow: Workflow): Generator<Walked> {
  yield* walkWorkflow(workflow, [], '', [])
}

function* walkWorkflow(
  workflow: Workflow,
  path: KeyPath,
  before: string,
  around: readonly Step[],
): Generator<Walked> {
  yield* walkList(workflow.steps, [...path, 'steps'], before, around)
  if (workflow.finally)
    yield* walkList(workflow.finally, [...path, 'finally'], `${before}finally/`, around)
}

function* walkList(
  steps: readonly Step[],
  path: KeyPath,
  before: string,
  around: readonly Step[],
): Generator<Walked> {
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
