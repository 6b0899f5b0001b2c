/**
 * The step kind `parallel`: runs several steps concurrently; the result is the list of their
 * results.
 */

import type { CommonStep, WorkflowStep } from '../definition/model.ts'
import { stepsShape } from '../definition/schema.ts'
import { runGroup } from './flow.ts'
import type { StepKind } from './kind.ts'
import { CONCURRENCY_SHAPE, getSteps, parseConcurrency } from './kind.ts'

/** Runs several steps at the same time. */
export type ParallelStep = CommonStep & {
  readonly type: 'parallel'
  readonly tasks: readonly WorkflowStep[]
  readonly max_concurrency: number
}

declare module '../definition/model.ts' {
  interface StepTypes {
    readonly parallel: ParallelStep
  }
}

export const parallelStep: StepKind<ParallelStep> = {
  forms: [
    {
      // tasks: [scan a, scan b]
      mark: 'tasks',
      keys: {
        tasks: stepsShape('What is done at the same time'),
        max_concurrency: CONCURRENCY_SHAPE,
      },
      parse(given, { reader, steps }) {
        const drafts = steps(given['tasks'], reader.at('tasks'), 'tasks')
        return {
          fields: { tasks: getSteps(drafts), max_concurrency: parseConcurrency(given, reader) },
          inside: [{ drafts, isParallel: true, items: [] }],
        }
      },
    },
  ],
  run(step, at, path) {
    const inside = { ...at, path }
    const flows = step.tasks.map((task) => at.frame.runner.step(task, inside))
    return runGroup(flows, ({ result }) => result, step)
  },
  label: ({ max_concurrency }) => `${max_concurrency} at the same time`,
  plan: () => ({}),
  describe: () => 'all of these at once',
  children: ({ tasks }) => [{ steps: tasks, path: ['tasks'], key: '/' }],
  childKeys: ['tasks'],
  isConcurrent: true,
  canRunInline: () => true,
}
