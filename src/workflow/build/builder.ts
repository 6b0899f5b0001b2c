import type { InteractionOption } from '../../contract/interaction.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkOptions } from '../../define/names.ts'
import { definitionOf, isTool } from '../../call/tool.ts'
import type {
  BuiltStep,
  BuiltStepOptions,
  EachOptions,
  GroupOptions,
  StepsBuilder,
  ToolStepOptions,
} from './builder-type.ts'
import { isBuiltStep, makeBuiltStep, writtenStep } from './built-steps.ts'
import { conditionsIn } from './conditions.ts'
import { inFrame, requireCurrent } from './frames.ts'
import type { Frame, WrittenStep } from './frames.ts'
import { expressionOf, makeRef } from './ref.ts'
import type { Ref } from './ref-type.ts'
import { splitOptions, writeOptions } from './step-options.ts'
import { toData } from './to-data.ts'

type Question = {
  readonly options?: readonly (string | InteractionOption)[]
  readonly schema?: unknown
  readonly default?: unknown
}
type Fields = { readonly [key: string]: unknown }

/** A builder that adds steps to one list. */
export function stepsBuilder(frame: Frame): StepsBuilder {
  const add = (
    type: string,
    name: string,
    fields: () => Fields,
    options: BuiltStepOptions = {},
    more?: readonly string[],
  ): BuiltStep => {
    requireCurrent(frame)
    if (typeof name !== 'string')
      throw new ToolError('CONFIG', `a step of ${frame.what} has no name`, {
        suggestion: "Name it first: w.tool('scan', ...)",
      })
    const step: WrittenStep = {
      type,
      name,
      ...fields(),
      ...writeOptions(`step '${name}'`, options, more),
    }
    frame.steps.push(step)
    const owner: Frame = frame.isParallel ? inner(frame, `task '${name}' of ${frame.what}`) : frame
    const built = makeBuiltStep(step, owner)
    const { compensate } = options
    if (compensate)
      Object.assign(step, {
        compensate: writeSteps(inner(owner, `what takes back '${name}'`), (w) =>
          compensate(w, built),
        ),
      })
    return built
  }

  const builder = {
    ...conditionsIn(frame),
    tool: (name: string, tool: unknown, input?: unknown, options?: ToolStepOptions) =>
      add(
        'tool',
        name,
        () => ({
          tool: toolName(tool, name),
          ...(input !== undefined && { input: toData(input, `the input of '${name}'`) }),
        }),
        options,
        ['permissions'],
      ),
    command: (name: string, line: string, options?: ToolStepOptions) =>
      add('tool', name, () => ({ command: line }), options, ['permissions']),
    decision(
      name: string,
      given: BuiltStepOptions &
        Question & {
          readonly decisionType?: string
          readonly instruction?: string
          readonly context?: unknown
        } = {},
    ) {
      const {
        about,
        rest: { decisionType = name, instruction, context, ...question },
      } = splitOptions(given)
      return add(
        'ai_decision',
        name,
        () => ({
          decision_type: decisionType,
          ...(instruction !== undefined && { instruction }),
          ...(context !== undefined && { context: toData(context, `the context of '${name}'`) }),
          ...writeQuestion(name, question, ['decisionType', 'instruction', 'context']),
        }),
        about,
      )
    },
    ask(name: string, given: BuiltStepOptions & Question & { readonly prompt: string }) {
      const {
        about,
        rest: { prompt, ...question },
      } = splitOptions(given)
      return add(
        'wait',
        name,
        () => ({ answer: { prompt, ...writeQuestion(name, question, ['prompt']) } }),
        about,
      )
    },
    wait: (name: string, time: unknown, options?: BuiltStepOptions) =>
      add(
        'wait',
        name,
        () =>
          isUntil(time)
            ? { until: toData(time.until, `the moment of '${name}'`) }
            : { for: toData(time, `the time of '${name}'`) },
        options,
      ),
    parallel: (name: string, write: (w: StepsBuilder) => unknown, options?: GroupOptions) =>
      add(
        'parallel',
        name,
        () => ({
          tasks: writeTasks(
            name,
            { ...inner(frame, `the tasks of '${name}'`), isParallel: true },
            write,
          ),
        }),
        options,
        ['maxConcurrency'],
      ),
    each: (
      name: string,
      items: unknown,
      write: (item: Ref, w: StepsBuilder, index: Ref<number>) => unknown,
      options: EachOptions = {},
    ) =>
      add('each', name, () => writeEach(frame, name, items, write, options.as), options, [
        'maxConcurrency',
        'as',
      ]),
    nested: (name: string, workflow: unknown, input?: unknown, options?: BuiltStepOptions) =>
      add(
        'workflow',
        name,
        () => ({
          workflow,
          ...(input !== undefined && { input: toData(input, `the input of '${name}'`) }),
        }),
        options,
      ),
    present: (value: Ref) => value,
  }
  return builder as unknown as StepsBuilder
}

/** Fills a list by a function, and gives it. */
export function writeSteps(
  frame: Frame,
  write: (w: StepsBuilder) => unknown,
): readonly WrittenStep[] {
  const made = inFrame(frame, () => write(stepsBuilder(frame)))
  refusePromise(made, frame)
  return frame.steps
}

/** Refuses what an async function gives: steps that it added later would belong to nothing. */
export function refusePromise(made: unknown, { what }: Frame): void {
  if (made instanceof Promise)
    throw new ToolError('CONFIG', `the function that writes ${what} is async`, {
      suggestion: 'Nothing runs while a workflow is written: leave out async and await',
    })
}

function inner(parent: Frame, what: string, items: readonly string[] = parent.items): Frame {
  return { workflow: parent.workflow, parent, what, steps: [], items }
}

function writeTasks(
  name: string,
  frame: Frame,
  write: (w: StepsBuilder) => unknown,
): readonly unknown[] {
  const made = inFrame(frame, () => write(stepsBuilder(frame)))
  refusePromise(made, frame)
  if (!Array.isArray(made))
    throw new ToolError('CONFIG', `the tasks of '${name}' are not a list`, {
      suggestion: 'Give the steps as a list: (w) => [w.tool(...), w.tool(...)]',
    })
  const tasks = made.map((task: unknown) => (typeof task === 'string' ? task : writtenStep(task)))
  const left = frame.steps.find((step) => !tasks.includes(step))
  if (left)
    throw new ToolError(
      'CONFIG',
      `'${left.name}' was added to ${frame.what}, but is not in the list that was given`,
      { suggestion: 'Put every task into the list' },
    )
  const foreign = tasks.findIndex(
    (task, index) =>
      typeof task !== 'string' &&
      (task === undefined || !frame.steps.includes(task) || tasks.indexOf(task) !== index),
  )
  if (foreign !== -1)
    throw new ToolError(
      'CONFIG',
      `task ${foreign + 1} of '${name}' is no step that was added there, or is in the list twice`,
      { suggestion: 'Give steps of the builder that the function is given: (w) => [w.tool(...)]' },
    )
  return tasks
}

function writeEach(
  outer: Frame,
  name: string,
  items: unknown,
  write: (item: Ref, w: StepsBuilder, index: Ref<number>) => unknown,
  as: string | undefined,
): Fields {
  const called = as ?? freeName(outer.items)
  const list = toData(items, `the items of '${name}'`)
  const frame = inner(outer, `the steps of '${name}'`, [...outer.items, called])
  const made = inFrame(frame, () =>
    write(makeRef(called, frame), stepsBuilder(frame), makeRef(`${called}_index`, frame)),
  )
  refusePromise(made, frame)
  if (isBuiltStep(made) && writtenStep(made) !== frame.steps.at(-1))
    throw new ToolError(
      'CONFIG',
      `'${name}' gives the results of its last step, '${frame.steps.at(-1)?.name ?? ''}', and not those of '${made.stepName}'`,
      { suggestion: 'Give the last step, or nothing' },
    )
  return { items: list, as: called, do: frame.steps }
}

function freeName(taken: readonly string[]): string {
  let name = 'item'
  for (let count = 2; taken.includes(name); count += 1) name = `item_${count}`
  return name
}

function writeQuestion(name: string, question: Question, others: readonly string[]): Fields {
  checkOptions(`step '${name}'`, question, ['options', 'schema', 'default', ...others])
  const { options, schema, default: otherwise } = question
  return {
    ...(options !== undefined && {
      options: options.map((option) => (typeof option === 'string' ? { value: option } : option)),
    }),
    ...(schema !== undefined && { schema }),
    ...(otherwise !== undefined && { default: toData(otherwise, `the default of '${name}'`) }),
  }
}

function toolName(tool: unknown, step: string): string {
  if (isTool(tool)) return definitionOf(tool).name
  if (typeof tool === 'string') return tool
  throw new ToolError('CONFIG', `step '${step}' needs a tool that tool() made, or the name of one`)
}

function isUntil(time: unknown): time is { readonly until: unknown } {
  return isObject(time) && expressionOf(time) === undefined && Object.hasOwn(time, 'until')
}
