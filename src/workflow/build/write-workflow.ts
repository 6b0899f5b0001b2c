import { ToolError } from '../../contract/tool-error.ts'
import { normaliseWhole } from '../definition/normalise-workflow.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import type { Author } from './author.ts'
import type { WorkflowBuilder } from './builder-type.ts'
import { refusePromise, stepsBuilder, writeSteps } from './builder.ts'
import { isBuiltStep } from './built-steps.ts'
import { inFrame } from './frames.ts'
import type { Frame, WrittenStep } from './frames.ts'
import { toPlainData } from './plain-data.ts'
import type { WrittenWorkflow } from './plain-data.ts'
import { makeRef } from './ref.ts'
import { toData } from './to-data.ts'

/** Has a function write a workflow, and gives it as data. Throws CONFIG: at once for what means nothing where it stands, with every problem for the rest. */
export async function writeWorkflow(author: Author): Promise<Workflow> {
  return normaliseWhole(toPlainData(author, writeAll))
}

function writeAll({ options, write }: Author): WrittenWorkflow {
  const frame: Frame = {
    workflow: options.name,
    parent: undefined,
    what: `the steps of workflow '${options.name}'`,
    steps: [],
    items: [],
  }
  let last: readonly WrittenStep[] | undefined
  const builder: WorkflowBuilder = {
    ...stepsBuilder(frame),
    input: makeRef('input', frame),
    workflow: makeRef('workflow', frame),
    finally(writeLast) {
      if (last)
        throw new ToolError(
          'CONFIG',
          `workflow '${options.name}' has two lists of steps for its end`,
          { suggestion: 'Call w.finally once' },
        )
      last = writeSteps(
        {
          workflow: options.name,
          parent: frame,
          what: `the last steps of workflow '${options.name}'`,
          steps: [],
          items: [],
        },
        writeLast,
      )
    },
  }
  return inFrame(frame, () => {
    const made = write(builder)
    refusePromise(made, frame)
    const output = isBuiltStep(made) ? made.result : made
    return {
      ...options,
      steps: frame.steps,
      ...(last && { finally: last }),
      ...(output !== undefined && { output: toData(output, 'what the workflow gives') }),
    }
  })
}
