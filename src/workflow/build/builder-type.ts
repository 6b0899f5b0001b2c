import type { AnswerOf } from '../../contract/context.ts'
import type { Duration } from '../../contract/duration.ts'
import type { InteractionOption } from '../../contract/interaction.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Permissions } from '../../contract/manifest.ts'
import type { Tool } from '../../call/tool.ts'
import type { StepError } from '../engines/engine-type.ts'
import type { WorkflowData } from '../definition/workflow-type.ts'
import type { BuiltWorkflow } from './built-type.ts'
import type { Conditions } from './conditions.ts'
import type { AnyRef, Given, GivenFields, Ref, ValueOf } from './ref-type.ts'

/** A step that was added, for the steps after it. */
export type BuiltStep<Result = unknown> = {
  readonly stepName: string
  readonly result: Ref<Result>
  readonly status: Ref<'ok' | 'failed' | 'skipped'>
  /** Why it failed, where it may. */
  readonly error: Ref<StepError | null>
  /** The run of its tool, where it has one. */
  readonly runId: Ref<string | null>
}

/** A step whatever it gives. */
export type AnyBuiltStep = { readonly stepName: string; readonly result: AnyRef }

/** What every step may be told. */
export type BuiltStepOptions<Result = unknown> = {
  /** The step is taken only where this is true; otherwise its result is null. A text is an expression. */
  readonly when?: AnyRef | string
  /** Tries after the first one, for every failure but those of the input and of permissions, or for those `on` names; default: 3, for failures that may pass by themselves. */
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
  /** What a failure means: the end of the workflow (`stop`, the default), or nothing. */
  readonly onError?: 'stop' | 'continue'
  /** Adds steps that take back what this one did, when the workflow fails later. */
  readonly compensate?: (w: StepsBuilder, step: BuiltStep<Result>) => unknown
}

/** What the step of a tool may be told. */
export type ToolStepOptions<Result = unknown> = BuiltStepOptions<Result> & {
  /** What it may do, less than its manifest allows. */ readonly permissions?: Permissions
}

/** What a step that holds others may be told. */
export type GroupOptions<Result = unknown> = BuiltStepOptions<Result> & {
  /** How many at the same time; default 4. */ readonly maxConcurrency?: number
}

/** What `each` may be told. */
export type EachOptions<Result = unknown> = GroupOptions<Result> & {
  /** What an item is called in expressions; default `item`. */ readonly as?: string
}

type About = { readonly when?: unknown; readonly onError?: unknown }
type MayMiss<Options> = Options extends
  { readonly when: unknown } | { readonly onError: 'continue' }
  ? null
  : never
type PartMayMiss<Options> = Options extends { readonly onError: 'continue' } ? null : never
type MadeBy<Options extends About, Result> = BuiltStep<Result | MayMiss<Options>>
type ResultsOf<Tasks, Options> = {
  -readonly [Key in keyof Tasks]:
    (Tasks[Key] extends AnyBuiltStep ? ValueOf<Tasks[Key]> : unknown) | PartMayMiss<Options>
}
type Named<Value extends string> = readonly (
  Value | (InteractionOption & { readonly value: Value })
)[]
type Decided = BuiltStepOptions & {
  /** What is decided, as a word that answers may be given by; default: the name of the step. */ readonly decisionType?: string
  readonly instruction?: string
  /** What whoever decides should know. */ readonly context?: GivenFields<JsonObject>
}

/** Adds steps to a list, in their order. Names are unique in a workflow. */
export type StepsBuilder = Conditions & {
  /** Runs a tool. What it is given may hold references, and is checked against the type of its input; a tool that is named by text is looked up when the workflow runs. */
  tool<Input, Result, const Options extends About = {}>(
    name: string,
    tool: Tool<Input, Result>,
    input: GivenFields<NoInfer<Input>>,
    options?: Options & ToolStepOptions<NoInfer<Result>>,
  ): MadeBy<Options, Result>
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
  /** Runs a tool by a line as it is typed. It is split into words before values are put in, so that a value never becomes two. */
  command<Result = unknown>(
    name: string,
    line: string,
    options?: ToolStepOptions<Result>,
  ): BuiltStep<Result>
  /** Asks for a decision, and waits for it. */
  decision<const Value extends string>(
    name: string,
    about: Decided & { readonly options: Named<Value>; readonly default?: NoInfer<Value> },
  ): BuiltStep<Value>
  decision<Schema = unknown>(
    name: string,
    about?: Decided & { readonly schema?: Schema; readonly default?: unknown },
  ): BuiltStep<AnswerOf<Schema>>
  /** Waits until somebody answers. */
  ask<const Value extends string>(
    name: string,
    question: BuiltStepOptions & {
      readonly prompt: string
      readonly options: Named<Value>
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
  /** Waits so long, or until a moment. */
  wait(
    name: string,
    time: Duration | Ref<Duration> | { readonly until: string | Date | Ref<string> },
    options?: BuiltStepOptions,
  ): BuiltStep<null>
  /** Takes several steps at the same time; the result is the list of their results. A text among them is a line as it is typed. */
  parallel<
    const Tasks extends readonly (AnyBuiltStep | string)[],
    const Options extends GroupOptions = {},
  >(
    name: string,
    tasks: (w: StepsBuilder) => Tasks,
    options?: Options,
  ): MadeBy<Options, ResultsOf<Tasks, Options>>
  /** Takes the same steps for every item of a list; the result is the list of what the last step gives. */
  each<Item, Made = unknown, const Options extends EachOptions = {}>(
    name: string,
    items: Ref<readonly Item[]> | readonly Item[],
    write: (
      item: Ref<ValueOf<Item>>,
      w: StepsBuilder,
      index: Ref<number>,
    ) => BuiltStep<Made> | void,
    options?: Options,
  ): MadeBy<Options, (Made | PartMayMiss<Options>)[]>
  /** Takes the steps of another workflow. */
  nested<Input, Result, const Options extends About = {}>(
    name: string,
    workflow: BuiltWorkflow<Input, Result>,
    input: Given<NoInfer<Input>>,
    options?: Options & BuiltStepOptions<NoInfer<Result>>,
  ): MadeBy<Options, Result>
  nested<Result = unknown>(
    name: string,
    workflow: WorkflowData,
    input?: Given<JsonObject>,
    options?: BuiltStepOptions<Result>,
  ): BuiltStep<Result>
  /** The same value, for a compiler that cannot know that it is there: the step that gives it was taken. */
  present<T>(value: Ref<T>): Ref<NonNullable<T>>
}

/** Writes a workflow: its steps, and the values that they are made of. */
export type WorkflowBuilder<Input = unknown> = StepsBuilder & {
  readonly input: Ref<Input>
  /** The id of the execution and the name of the workflow. */
  readonly workflow: Ref<{ readonly id: string; readonly name: string }>
  /** Adds steps that are taken at the end, however it ended. */
  finally(write: (w: StepsBuilder) => unknown): void
}
