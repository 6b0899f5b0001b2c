/**
 * The builder behind `workflow()`: collects steps as data while the author function runs. Loaded
 * when a definition is first needed.
 */

import { getDefinition, isTool } from '../core/tool.ts'
import { checkOptions } from '../define/checks.ts'
import { compileSchema } from '../define/schema/compile.ts'
import type { LazySchema } from '../define/schema/source.ts'
import { classifySchema, resolveSchema } from '../define/schema/source.ts'
import type { InteractionOption } from '../protocol/events.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { JsonObject, JsonSchema } from '../util/values.ts'
import { compact, isObject } from '../util/values.ts'
import type { BuilderFrame, Ref, WrittenStep } from './builder-refs.ts'
import {
  createConditions,
  createRef,
  getExpression,
  requireCurrentFrame,
  withFrame,
} from './builder-refs.ts'
import type { Workflow } from './definition/model.ts'
import { normalizeAndCheckWorkflow } from './definition/parse-workflow.ts'
import type {
  BuiltStep,
  BuiltStepOptions,
  EachOptions,
  GroupOptions,
  StepsBuilder,
  ToolStepOptions,
  WorkflowAuthor,
  WorkflowBuilder,
} from './workflow-types.ts'
import { getAuthor, isBuiltWorkflow } from './workflow-types.ts'

/**
 * Calls the function that writes a workflow, and returns the checked definition. Throws CONFIG:
 * immediately for what means nothing in its place, with every problem for the rest.
 */
export async function buildDefinition(author: WorkflowAuthor): Promise<Workflow> {
  return normalizeAndCheckWorkflow(writeWorkflow(author))
}

// Workflows that are being written, from the outermost.
const writing: WorkflowAuthor[] = []

function writeWorkflow(author: WorkflowAuthor): JsonObject {
  const { options, write } = author
  const { name, input } = options
  if (writing.includes(author))
    throw new ToolError(
      'CONFIG',
      `workflows contain each other: ${[...writing, author].map((one) => one.options.name).join(' in ')}`,
      { suggestion: 'Take one of them out, or run it as a tool, by its name' },
    )
  const frame = createFrame(name, `the steps of workflow '${name}'`)
  let last: readonly WrittenStep[] | undefined
  const builder: WorkflowBuilder = {
    ...createStepsBuilder(frame),
    input: createRef('input', frame),
    workflow: createRef('workflow', frame),
    finally(writeLast) {
      if (last)
        throw new ToolError('CONFIG', `workflow '${name}' has two lists of steps for its end`, {
          suggestion: 'Call w.finally once',
        })
      last = collectSteps(
        createFrame(name, `the last steps of workflow '${name}'`, frame),
        writeLast,
      )
    },
  }
  writing.push(author)
  try {
    const made = writeInFrame(frame, () => write(builder))
    const output = isBuiltStep(made) ? made.result : made
    return compact({
      ...options,
      input: input === undefined ? undefined : toJsonSchema(input, 'input'),
      steps: frame.steps,
      finally: last,
      output:
        output === undefined
          ? undefined
          : withFrame(frame, () => toData(output, 'what the workflow gives')),
    })
  } finally {
    writing.pop()
  }
}

// Plain JSON Schema stays as it was written.
function toJsonSchema(lazy: LazySchema, direction: 'input' | 'output'): JsonSchema {
  const source = resolveSchema(lazy)
  const classified = classifySchema(source)
  return 'plain' in classified ? classified.plain : compileSchema(source, direction).json
}

type QuestionFields = {
  readonly options?: readonly (string | InteractionOption)[]
  readonly schema?: unknown
  readonly default?: unknown
}
type StepFields = { readonly [key: string]: unknown }

/** A builder that adds steps to one list. */
function createStepsBuilder(frame: BuilderFrame): StepsBuilder {
  const add = (
    type: string,
    name: string,
    fields: () => StepFields,
    options: BuiltStepOptions = {},
    more?: readonly string[],
  ): BuiltStep => {
    requireCurrentFrame(frame)
    if (typeof name !== 'string')
      throw new ToolError('CONFIG', `a step of ${frame.what} has no name`, {
        suggestion: "Name it first: w.tool('scan', ...)",
      })
    const step: WrittenStep = {
      type,
      name,
      ...fields(),
      ...toStepFields(`step '${name}'`, options, more),
    }
    frame.steps.push(step)
    const owner = frame.isParallel
      ? createFrame(frame.workflow, `task '${name}' of ${frame.what}`, frame)
      : frame
    const built = createBuiltStep(step, owner)
    const { compensate } = options
    if (compensate) {
      const undo = createFrame(frame.workflow, `what takes back '${name}'`, owner)
      Object.assign(step, { compensate: collectSteps(undo, (w) => compensate(w, built)) })
    }
    return built
  }

  const builder = {
    ...createConditions(frame),
    tool: (name: string, tool: unknown, input?: unknown, options?: ToolStepOptions) =>
      add(
        'tool',
        name,
        () => compact({ tool: toToolName(tool, name), input: toInput(input, name) }),
        options,
        ['permissions'],
      ),
    command: (name: string, line: string, options?: ToolStepOptions) =>
      add('tool', name, () => ({ command: line }), options, ['permissions']),
    decision(
      name: string,
      given: BuiltStepOptions &
        QuestionFields & {
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
        () =>
          compact({
            decision_type: decisionType,
            instruction,
            context:
              context === undefined ? undefined : toData(context, `the context of '${name}'`),
            ...toQuestionFields(name, question, ['decisionType', 'instruction', 'context']),
          }),
        about,
      )
    },
    ask(name: string, given: BuiltStepOptions & QuestionFields & { readonly prompt: string }) {
      const {
        about,
        rest: { prompt, ...question },
      } = splitOptions(given)
      return add(
        'wait',
        name,
        () => ({ answer: { prompt, ...toQuestionFields(name, question, ['prompt']) } }),
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
      add('parallel', name, () => ({ tasks: collectTasks(name, frame, write) }), options, [
        'maxConcurrency',
      ]),
    each: (
      name: string,
      items: unknown,
      write: (item: Ref, w: StepsBuilder, index: Ref<number>) => unknown,
      options: EachOptions = {},
    ) =>
      add('each', name, () => collectEach(frame, name, items, write, options.as), options, [
        'maxConcurrency',
        'as',
      ]),
    nested: (name: string, workflow: unknown, input?: unknown, options?: BuiltStepOptions) =>
      add(
        'workflow',
        name,
        () => ({
          workflow: isBuiltWorkflow(workflow) ? writeWorkflow(getAuthor(workflow)) : workflow,
          ...compact({ input: toInput(input, name) }),
        }),
        options,
      ),
    present: (value: Ref) => value,
  }
  return builder as unknown as StepsBuilder
}

// What an async function adds later would belong to nothing.
function writeInFrame<Made>(frame: BuilderFrame, write: () => Made): Made {
  const made = withFrame(frame, write)
  if (made instanceof Promise)
    throw new ToolError('CONFIG', `the function that writes ${frame.what} is async`, {
      suggestion: 'Nothing runs while a workflow is written: leave out async and await',
    })
  return made
}

function collectSteps(
  frame: BuilderFrame,
  write: (w: StepsBuilder) => unknown,
): readonly WrittenStep[] {
  writeInFrame(frame, () => write(createStepsBuilder(frame)))
  return frame.steps
}

function createFrame(
  workflow: string,
  what: string,
  parent?: BuilderFrame,
  items: readonly string[] = parent?.items ?? [],
): BuilderFrame {
  return { workflow, parent, what, steps: [], items }
}

function collectTasks(
  name: string,
  outer: BuilderFrame,
  write: (w: StepsBuilder) => unknown,
): readonly unknown[] {
  const what = `the tasks of '${name}'`
  const frame: BuilderFrame = { ...createFrame(outer.workflow, what, outer), isParallel: true }
  const made = writeInFrame(frame, () => write(createStepsBuilder(frame)))
  if (!Array.isArray(made))
    throw new ToolError('CONFIG', `${what} are not a list`, {
      suggestion: 'Give the steps as a list: (w) => [w.tool(...), w.tool(...)]',
    })
  const tasks = made.map((task: unknown) =>
    typeof task === 'string' ? task : getWrittenStep(task),
  )
  const left = frame.steps.find((step) => !tasks.includes(step))
  if (left)
    throw new ToolError(
      'CONFIG',
      `'${left.name}' was added to ${what}, but is not in the list that was given`,
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

function collectEach(
  outer: BuilderFrame,
  name: string,
  items: unknown,
  write: (item: Ref, w: StepsBuilder, index: Ref<number>) => unknown,
  as: string | undefined,
): StepFields {
  const called = as ?? findFreeItemName(outer.items)
  const list = toData(items, `the items of '${name}'`)
  const known = [...outer.items, called]
  const frame = createFrame(outer.workflow, `the steps of '${name}'`, outer, known)
  const made = writeInFrame(frame, () =>
    write(createRef(called, frame), createStepsBuilder(frame), createRef(`${called}_index`, frame)),
  )
  if (isBuiltStep(made) && getWrittenStep(made) !== frame.steps.at(-1))
    throw new ToolError(
      'CONFIG',
      `'${name}' gives the results of its last step, '${frame.steps.at(-1)?.name ?? ''}', and not those of '${made.stepName}'`,
      { suggestion: 'Give the last step, or nothing' },
    )
  return { items: list, as: called, do: frame.steps }
}

function findFreeItemName(taken: readonly string[]): string {
  let name = 'item'
  for (let count = 2; taken.includes(name); count += 1) name = `item_${count}`
  return name
}

function toQuestionFields(
  name: string,
  question: QuestionFields,
  others: readonly string[],
): StepFields {
  checkOptions(`step '${name}'`, question, ['options', 'schema', 'default', ...others])
  const { options, schema, default: preset } = question
  return compact({
    options: options?.map((option) => (typeof option === 'string' ? { value: option } : option)),
    schema: schema === undefined ? undefined : toJsonSchema(schema as LazySchema, 'output'),
    default: preset === undefined ? undefined : toData(preset, `the default of '${name}'`),
  })
}

function toInput(input: unknown, name: string): unknown {
  return input === undefined ? undefined : toData(input, `the input of '${name}'`)
}

function toToolName(tool: unknown, step: string): string {
  if (isTool(tool)) return getDefinition(tool).name
  if (typeof tool === 'string') return tool
  throw new ToolError('CONFIG', `step '${step}' needs a tool that tool() made, or the name of one`)
}

function isUntil(time: unknown): time is { readonly until: unknown } {
  return isObject(time) && getExpression(time) === undefined && Object.hasOwn(time, 'until')
}

const writtenSteps = new WeakMap<object, WrittenStep>()

/** What later steps see of a step. */
function createBuiltStep(step: WrittenStep, owner: BuilderFrame): BuiltStep {
  const path = `steps.${step.name}`
  const built: BuiltStep = {
    stepName: step.name,
    result: createRef(`${path}.result`, owner),
    status: createRef(`${path}.status`, owner),
    error: createRef(`${path}.error`, owner),
    runId: createRef(`${path}.run_id`, owner),
  }
  writtenSteps.set(built, step)
  return built
}

/** The step that a builder gave, as it is written. */
function getWrittenStep(built: unknown): WrittenStep | undefined {
  return typeof built === 'object' && built !== null ? writtenSteps.get(built) : undefined
}

/** True for what a builder gives for a step. */
function isBuiltStep(value: unknown): value is BuiltStep {
  return getWrittenStep(value) !== undefined
}

type AnyStepOptions = BuiltStepOptions &
  Pick<ToolStepOptions, 'permissions'> &
  Pick<EachOptions, 'maxConcurrency' | 'as'>

const COMMON_OPTIONS = [
  'when',
  'retry',
  'timeout',
  'onError',
  'compensate',
] as const satisfies readonly (keyof BuiltStepOptions)[]

/**
 * The options of a step as its definition says them, without what takes it back. Throws CONFIG for
 * an option that does not exist.
 */
function toStepFields(
  what: string,
  options: AnyStepOptions,
  more: readonly string[] = [],
): { readonly [key: string]: unknown } {
  checkOptions(what, options, [...COMMON_OPTIONS, ...more])
  const { when, retry, timeout, onError, permissions, maxConcurrency } = options
  const condition = getExpression(when)
  return compact({
    when: condition === undefined ? when : `\${{ ${condition} }}`,
    retry,
    timeout,
    on_error: onError,
    permissions,
    max_concurrency: maxConcurrency,
  })
}

/** What options of a question are about the step, and what is about the question. */
function splitOptions<Options extends BuiltStepOptions>(
  options: Options,
): { readonly about: BuiltStepOptions; readonly rest: Omit<Options, keyof BuiltStepOptions> } {
  const isCommon = ([key]: readonly [string, unknown]): boolean =>
    (COMMON_OPTIONS as readonly string[]).includes(key)
  const entries = Object.entries(options)
  return {
    about: Object.fromEntries(entries.filter(isCommon)),
    rest: Object.fromEntries(entries.filter((entry) => !isCommon(entry))) as Omit<
      Options,
      keyof BuiltStepOptions
    >,
  }
}

const MAX_DATA_DEPTH = 50

/**
 * A value with references as data with `${{ ... }}` in it. Throws CONFIG, with the place, for what
 * is no JSON.
 */
function toData(value: unknown, where: string, depth = 0): unknown {
  const expression = getExpression(value)
  if (expression !== undefined) return `\${{ ${expression} }}`
  if (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
    return value
  if (isBuiltStep(value))
    throw new ToolError('CONFIG', `${where} is the step '${value.stepName}' itself`, {
      suggestion: `Give its result: ${value.stepName}.result`,
    })
  if (depth >= MAX_DATA_DEPTH)
    throw new ToolError(
      'CONFIG',
      `${where} has more than ${MAX_DATA_DEPTH} levels, or contains itself`,
    )
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value))
    return value.map((item, index) => toData(item ?? null, `${where}[${index}]`, depth + 1))
  if (typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => [key, toData(inner, `${where}.${key}`, depth + 1)]),
    )
  throw new ToolError(
    'CONFIG',
    `${where} is ${typeof value === 'number' ? String(value) : `a ${typeof value}`}, which is no JSON`,
    { suggestion: 'A workflow is data: give texts, numbers, lists, objects and references' },
  )
}
