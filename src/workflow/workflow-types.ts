/**
 * Public types of workflows: the TypeScript builder, the host, and the options of `registry()`; and
 * the brand by which a built workflow is recognized.
 */

import type { Tool } from '../core/tool.ts'
import type { LazySchema } from '../define/schema/source.ts'
import type { AnswerOf } from '../protocol/context.ts'
import type { Answerer, InteractionOption } from '../protocol/events.ts'
import type { Duration } from '../protocol/limits.ts'
import type { Permissions } from '../protocol/manifest.ts'
import type { Registry, SourceRegistryOptions as ToolOptions } from '../registry/types.ts'
import type { RunRequest } from '../runner/request.ts'
import type { JsonObject } from '../util/values.ts'
import { isObject } from '../util/values.ts'
import type { AnyRef, ConditionBuilder, Given, GivenFields, Ref, RefValue } from './builder-refs.ts'
import type { Workflow, WorkflowData } from './definition/model.ts'
import type {
  Execution,
  ExecutionFilter,
  ExecutionHandle,
  StartExecutionOptions,
  StepError,
} from './engine.ts'

declare const workflowTypes: unique symbol

/**
 * A workflow that was written in TypeScript. It is data: what `definition()` gives can be kept,
 * sent, and written down as YAML.
 */
export type BuiltWorkflow<Input = unknown, Result = unknown> = {
  readonly name: string
  readonly summary?: string
  /**
   * The workflow as data, every short form written out. Throws CONFIG, with the place, for what
   * cannot work.
   */
  definition(): Promise<Workflow>
  readonly [workflowTypes]?: { readonly input: Input; readonly result: Result }
}

/** The options of a workflow. */
export type BuiltWorkflowOptions<Input extends LazySchema | undefined = LazySchema | undefined> = {
  /** 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  readonly version?: string
  /** One line of 1 to 200 characters. */
  readonly summary?: string
  readonly description?: string
  /**
   * As `tool()` takes it; it travels as JSON Schema, so that what only code can check is not
   * checked. Absent: any object.
   */
  readonly input?: Input
  /** The timeout of the whole workflow. */
  readonly timeout?: Duration
}

/** A step that was added. */
export type BuiltStep<Result = unknown> = {
  readonly stepName: string
  readonly result: Ref<Result>
  readonly status: Ref<'ok' | 'failed' | 'skipped'>
  /** The error, if it failed and was allowed to. */
  readonly error: Ref<StepError | null>
  /** The run of its tool, if it has one. */
  readonly runId: Ref<string | null>
}

/** A step with any result. */
type AnyBuiltStep = { readonly stepName: string; readonly result: AnyRef }

/** The options of every step. */
export type BuiltStepOptions<Result = unknown> = {
  /**
   * The step runs only when this is true; otherwise its result is null. A text is an expression.
   */
  readonly when?: AnyRef | string
  /**
   * Attempts after the first one, for every failure except those of the input and of permissions,
   * or for those in `on`; default: 3, for failures that may pass.
   */
  readonly retry?:
    | number
    | {
        readonly max: number
        readonly delay?: Duration
        readonly factor?: number
        readonly longest?: Duration
        readonly on?: readonly string[]
      }
  readonly timeout?: Duration
  /** Whether a failure ends the workflow (`stop`, the default). */
  readonly onError?: 'stop' | 'continue'
  /** Adds steps that undo this one when the workflow fails later. */
  readonly compensate?: (w: StepsBuilder, step: BuiltStep<Result>) => unknown
}

/** The options of a tool step. */
export type ToolStepOptions<Result = unknown> = BuiltStepOptions<Result> & {
  /** What it may do, less than its manifest allows. */ readonly permissions?: Permissions
}

/** The options of a step with steps inside. */
export type GroupOptions<Result = unknown> = BuiltStepOptions<Result> & {
  /** How many at the same time; default 4. */ readonly maxConcurrency?: number
}

/** The options of `each`. */
export type EachOptions<Result = unknown> = GroupOptions<Result> & {
  /** What an item is called in expressions; default `item`. */ readonly as?: string
}

type OutcomeOptions = { readonly when?: unknown; readonly onError?: unknown }
type NullIfSkippable<Options> = Options extends
  { readonly when: unknown } | { readonly onError: 'continue' }
  ? null
  : never
type NullIfPartMayFail<Options> = Options extends { readonly onError: 'continue' } ? null : never
type BuiltStepFor<Options extends OutcomeOptions, Result> = BuiltStep<
  Result | NullIfSkippable<Options>
>
type TaskResults<Tasks, Options> = {
  -readonly [Key in keyof Tasks]:
    (Tasks[Key] extends AnyBuiltStep ? RefValue<Tasks[Key]> : unknown) | NullIfPartMayFail<Options>
}
type NamedOptions<Value extends string> = readonly (
  Value | (InteractionOption & { readonly value: Value })
)[]
type DecisionOptions = BuiltStepOptions & {
  /** What is decided, as a word that answers may be given by; default: the name of the step. */ readonly decisionType?: string
  readonly instruction?: string
  /** What the one who decides should know. */
  readonly context?: GivenFields<JsonObject>
}

/** Adds steps to a list, in their order. Names are unique in a workflow. */
export type StepsBuilder = ConditionBuilder & {
  /**
   * Runs a tool. What it is given may hold references, and is checked against the type of its
   * input; a tool that is named by text is looked up when the workflow runs.
   */
  tool<Input, Result, const Options extends OutcomeOptions = {}>(
    name: string,
    tool: Tool<Input, Result>,
    input: GivenFields<NoInfer<Input>>,
    options?: Options & ToolStepOptions<NoInfer<Result>>,
  ): BuiltStepFor<Options, Result>
  tool<Result = unknown>(
    name: string,
    tool: string,
    input?: GivenFields<JsonObject>,
    options?: ToolStepOptions<Result>,
  ): BuiltStep<Result>
  tool<Input, Result>(
    name: string,
    tool: Tool<Input, Result>,
    ...none: {} extends Input ? [] : [input: GivenFields<Input>]
  ): BuiltStep<Result>
  /**
   * Runs a tool by a line as it is typed. It is split into words before values are put in, so that
   * a value never becomes two.
   */
  command<Result = unknown>(
    name: string,
    line: string,
    options?: ToolStepOptions<Result>,
  ): BuiltStep<Result>
  /** Asks for a decision, and waits for it. */
  decision<const Value extends string>(
    name: string,
    about: DecisionOptions & {
      readonly options: NamedOptions<Value>
      readonly default?: NoInfer<Value>
    },
  ): BuiltStep<Value>
  decision<Schema = unknown>(
    name: string,
    about?: DecisionOptions & { readonly schema?: Schema; readonly default?: unknown },
  ): BuiltStep<AnswerOf<Schema>>
  /** Waits for an answer. */
  ask<const Value extends string>(
    name: string,
    question: BuiltStepOptions & {
      readonly prompt: string
      readonly options: NamedOptions<Value>
      readonly default?: NoInfer<Value>
    },
  ): BuiltStep<Value>
  ask<Schema = unknown>(
    name: string,
    question: BuiltStepOptions & {
      readonly prompt: string
      readonly schema?: Schema
      readonly default?: unknown
    },
  ): BuiltStep<AnswerOf<Schema>>
  /** Waits for a duration, or until a time. */
  wait(
    name: string,
    time: Duration | Ref<Duration> | { readonly until: string | Date | Ref<string> },
    options?: BuiltStepOptions,
  ): BuiltStep<null>
  /**
   * Runs several steps concurrently; the result is the list of their results. A text is a command.
   */
  parallel<
    const Tasks extends readonly (AnyBuiltStep | string)[],
    const Options extends GroupOptions = {},
  >(
    name: string,
    tasks: (w: StepsBuilder) => Tasks,
    options?: Options,
  ): BuiltStepFor<Options, TaskResults<Tasks, Options>>
  /**
   * Runs the same steps for every item of a list; the result is the list of results of the last
   * step.
   */
  each<Item, Made = unknown, const Options extends EachOptions = {}>(
    name: string,
    items: Ref<readonly Item[]> | readonly Item[],
    write: (
      item: Ref<RefValue<Item>>,
      w: StepsBuilder,
      index: Ref<number>,
    ) => BuiltStep<Made> | void,
    options?: Options,
  ): BuiltStepFor<Options, (Made | NullIfPartMayFail<Options>)[]>
  /** Runs another workflow. */
  nested<Input, Result, const Options extends OutcomeOptions = {}>(
    name: string,
    workflow: BuiltWorkflow<Input, Result>,
    input: Given<NoInfer<Input>>,
    options?: Options & BuiltStepOptions<NoInfer<Result>>,
  ): BuiltStepFor<Options, Result>
  nested<Result = unknown>(
    name: string,
    workflow: WorkflowData,
    input?: Given<JsonObject>,
    options?: BuiltStepOptions<Result>,
  ): BuiltStep<Result>
  /**
   * The same value, for a compiler that cannot know that it is not null: the step that gives it has
   * run.
   */
  present<T>(value: Ref<T>): Ref<NonNullable<T>>
}

/** Writes a workflow: its steps, and the values that they are made of. */
export type WorkflowBuilder<Input = unknown> = StepsBuilder & {
  readonly input: Ref<Input>
  /** The id of the execution and the name of the workflow. */
  readonly workflow: Ref<{ readonly id: string; readonly name: string }>
  /** Adds steps that run at the end, after success and after failure. */
  finally(write: (w: StepsBuilder) => unknown): void
}

const workflowBrand = Symbol.for('toolable.workflow')

/** The options of a workflow, and the function that writes it. */
export type WorkflowAuthor = {
  readonly options: BuiltWorkflowOptions
  readonly write: (w: WorkflowBuilder) => unknown
}

/** Attaches the author function to a workflow. */
export function brandWorkflow<Input, Result>(
  author: WorkflowAuthor,
  built: BuiltWorkflow<Input, Result>,
): BuiltWorkflow<Input, Result> {
  return Object.assign(built, { [workflowBrand]: author })
}

/** True for what `workflow()` gives, also from another copy of this package. */
export function isBuiltWorkflow(value: unknown): value is BuiltWorkflow {
  return (
    isObject(value) &&
    isObject((value as { [workflowBrand]?: unknown })[workflowBrand]) &&
    typeof value['definition'] === 'function'
  )
}

/** The author function of a workflow. */
export function getAuthor(built: BuiltWorkflow): WorkflowAuthor {
  return (built as unknown as { [workflowBrand]: WorkflowAuthor })[workflowBrand]
}

export type WorkflowHostOptions = {
  /** Where the tools of steps are found. */
  readonly registry: Registry
  /** Where executions are recorded; default: `.runs` beside the configuration. */
  readonly folder?: string
  /**
   * Answers questions of workflows and their tools; without it they wait for `answer()` or
   * `toolable answer`.
   */
  readonly answer?: Answerer
  /** Resumes executions that were started here and whose process died; default true. */
  readonly resume?: boolean
  /** The base of relative paths; default: the working directory. */
  readonly cwd?: string
  /** The environment of the host; default: that of the process. */
  readonly env?: { readonly [name: string]: string | undefined }
}

/** A workflow in any form: written in TypeScript, as data, or the path of a file. */
export type AnyWorkflow = BuiltWorkflow | WorkflowData | string

/** Executes workflows so that they survive the process. */
export type Workflows = {
  /**
   * Starts an execution. Throws CONFIG for a definition that cannot work, INVALID_INPUT for an
   * input that does not fit. With the id of one that was started already that one is joined.
   */
  start<Input, Result>(
    workflow: BuiltWorkflow<Input, Result>,
    input?: Input,
    options?: StartExecutionOptions,
  ): Promise<ExecutionHandle>
  start(
    workflow: AnyWorkflow,
    input?: unknown,
    options?: StartExecutionOptions,
  ): Promise<ExecutionHandle>
  /**
   * Answers a question; the first answer wins. Throws NOT_FOUND, PRECONDITION, CONFLICT, or
   * INVALID_INPUT for an answer that does not fit.
   */
  answer(id: string, question: string, value: unknown): Promise<void>
  /** Cancels an execution: its compensations run, and it ends. */
  cancel(id: string, reason?: string): Promise<void>
  get(id: string): Promise<Execution | undefined>
  /** Newest first. */
  list(filter?: ExecutionFilter): Promise<readonly Execution[]>
  /** Resumes what processes that died have left; returns the ids. */
  resume(): Promise<readonly string[]>
  /** Stops here; what is not over continues when it is opened again. */
  close(): Promise<void>
}

/** A file or a folder of workflows. */
export type WorkflowsOptions = {
  readonly path: string
  /** The first half of their ids; default: the name of the folder, and `workflows` for a file. */
  readonly name?: string
}

/**
 * A workflow that becomes a tool: a file or folder, what `workflow()` gives, or the definition
 * itself.
 */
export type WorkflowItem =
  string | WorkflowsOptions | BuiltWorkflow<never, unknown> | BuiltWorkflow | WorkflowData

/** Where tools come from, and how they are run. */
export type RegistryOptions = ToolOptions & {
  /**
   * Workflows, each of them a tool; files (`.yaml`, `.yml`, `.json`, and code that exports one),
   * folders of data files, or values. A call is a run on record, under `.runs` beside the
   * configuration.
   */
  readonly workflows?: readonly WorkflowItem[]
}

/** What workflows of a registry need. */
export type RegistryWorkflowHost = {
  /** The registry itself: its tools are those of the steps. */
  opened(): Registry
  /** How the registry is opened again to resume a run. */
  readonly surroundings?: RunRequest['surroundings']
  /** The folder of the registry: runs are recorded beside its configuration. */
  readonly cwd: string
  /** Executions that are under way. */
  readonly running: Set<Promise<unknown>>
  /** Aborted when the registry is closed. */
  readonly closed: AbortSignal
}
