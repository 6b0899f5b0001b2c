import { ToolError } from '../../contract/tool-error.ts'

/** A step as it is written; schemas and workflows in it are made data when the workflow is. */
export type WrittenStep = {
  readonly type: string
  readonly name: string
  readonly [key: string]: unknown
}

/** A list of steps that is being written, or has been. */
export type Frame = {
  /** Of the workflow. */
  readonly workflow: string
  readonly parent: Frame | undefined
  /** What it is, for people: "the tasks of 'both'". */
  readonly what: string
  readonly steps: WrittenStep[]
  /** What the items of the `each` around it are called. */
  readonly items: readonly string[]
  /** Its steps are taken at the same time, and do not see each other. */
  readonly isParallel?: true
}

let current: Frame | undefined

/** Has `write` fill a new list of steps; nothing outside it sees what is made in it. */
export function inFrame<Result>(frame: Frame, write: () => Result): Result {
  const before = current
  current = frame
  try {
    return write()
  } finally {
    current = before
  }
}

/** Refuses a builder that belongs to another list than the one that is being written: its step would land in the wrong place. */
export function requireCurrent(frame: Frame): void {
  if (current === frame) return
  if (!current)
    throw new ToolError(
      'CONFIG',
      `workflow '${frame.workflow}' is finished: a step was added to ${frame.what} afterwards`,
      {
        suggestion:
          'Add steps inside the function that workflow() is given, and do not await in it',
      },
    )
  throw new ToolError('CONFIG', `a step for ${frame.what} was added inside ${current.what}`, {
    suggestion: 'Use the builder that the inner function is given: (w) => w.tool(...)',
  })
}

/** Refuses a reference where nobody will know what it means. */
export function requireVisible(owner: Frame, expression: string): void {
  if (!current) return
  for (let frame: Frame | undefined = current; frame; frame = frame.parent)
    if (frame === owner) return
  if (owner.workflow !== current.workflow)
    throw new ToolError(
      'CONFIG',
      `'${expression}' is a value of workflow '${owner.workflow}' and means nothing in workflow '${current.workflow}'`,
      { suggestion: 'Hand it over as input: w.nested(name, workflow, { ... })' },
    )
  throw new ToolError(
    'CONFIG',
    `'${expression}' is known only in ${owner.what}, and was used in ${current.what}`,
    { suggestion: 'Use the result of the step around it' },
  )
}
