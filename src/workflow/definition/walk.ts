/**
 * Walks over all steps of a definition, including nested workflows and compensation.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { getStepKind } from '../steps/table.ts'
import type { Workflow, WorkflowStep } from './model.ts'

/** A step, the keys that lead to it in the definition, and its key in an execution. */
export type WalkedStep = {
  readonly step: WorkflowStep
  readonly path: KeyPath
  readonly key: string
  /** The steps around it, from the outermost. */
  readonly around: readonly WorkflowStep[]
}

/**
 * Every step of a workflow in the order in which it is written, including nested workflows and
 * compensations.
 */
export function* walkSteps({ steps, finally: last = [] }: Workflow): Generator<WalkedStep> {
  yield* walkList(steps, ['steps'], '', [])
  yield* walkList(last, ['finally'], 'finally/', [])
}

function* walkList(
  steps: readonly WorkflowStep[],
  path: KeyPath,
  prefix: string,
  around: readonly WorkflowStep[],
): Generator<WalkedStep> {
  for (const [index, step] of steps.entries()) {
    const here = [...path, index]
    const key = `${prefix}${step.name}`
    yield { step, path: here, key, around }
    const inner = [...around, step]
    for (const list of getStepKind(step).children?.(step) ?? [])
      yield* walkList(list.steps, [...here, ...list.path], key + list.key, inner)
    if (step.compensate)
      yield* walkList(step.compensate, [...here, 'compensate'], `${key}~undo/`, inner)
  }
}

/** The names of the tools that a workflow calls, each once, in the order of the text. */
export function listToolNames(workflow: Workflow): readonly string[] {
  const names = [...walkSteps(workflow)].flatMap(
    ({ step }) => getStepKind(step).tool?.(step).name ?? [],
  )
  return [...new Set(names)]
}
