/**
 * What a step kind is: how it is written, run, planned and drawn.
 *
 * Each kind is one file in this folder and one line in table.ts. CONTRIBUTING.md has the recipe.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import type { Registry } from '../../registry/types.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import type { RetryPolicy, StepType, Workflow, WorkflowStep } from '../definition/model.ts'
import type { DefinitionReader, StepDraft, StepDraftGroup } from '../definition/reader.ts'
import { describeValue } from '../definition/reader.ts'
import type { ConfigKeys } from '../definition/schema.ts'
import { anyShape } from '../definition/schema.ts'
import type { WorkflowQuestion } from '../engine.ts'
import type { Expression } from '../expression-parser.ts'
import type { ExpressionScope, StepRecord } from '../expressions.ts'
import type { Flow, StepLocation } from './flow.ts'

/** One kind of step. What is optional has a default that suits a step without steps inside. */
export type StepKind<Step extends WorkflowStep = WorkflowStep> = {
  /** Every way to write it. */
  readonly forms: readonly StepForm[]
  /** Whether a step without `retry` is retried after an error that may pass; default: no. */
  readonly retriesByDefault?: true
  /** Whether `run` enforces the timeout of the step itself; default: the interpreter does. */
  readonly enforcesTimeout?: true
  /** Runs one attempt. `path` identifies it: no operation of another attempt has that key. */
  run(step: Step, at: StepLocation, path: string, attempt: number): Flow<StepRecord>
  /** The step in a few words, for a box of a chart. */
  label(step: Step): string
  /** The brackets of its box in a Mermaid chart; default: those of a rectangle. */
  readonly brackets?: readonly [open: string, close: string]
  /** The fields that only this kind has in a plan. */
  plan(step: Step, known: ComputeKnown): PlannedFields
  /** What a planned step does, as one line; default: the `text` of the plan. */
  describe?(planned: PlannedFields): string
  /** The expressions of the step itself; default: those in all of its own fields. */
  expressions?(step: Step): readonly Expression[]
  /** The steps inside it. */
  children?(step: Step): readonly StepList[]
  /** The keys of a written step under which steps inside are found. */
  readonly childKeys?: readonly string[]
  /** Whether the steps inside run at the same time. */
  readonly isConcurrent?: true
  /** Whether the steps inside see an input of their own. */
  readonly hasOwnInput?: true
  /** The tool that it calls. The input is checked where it is given. */
  tool?(step: Step): { readonly name: string; readonly key: string; readonly input?: JsonObject }
  /** The input that it gives to a nested workflow, and the schema it must fit. */
  nestedInput?(step: Step): NestedInput | undefined
  /** The question that it asks, with its place in the definition; `path` is that of the step. */
  question?(step: Step, path: KeyPath): PlacedQuestion | undefined
  /** Whether it can run without a run folder, in this process alone; default: no. */
  canRunInline?(step: Step, registry: Pick<Registry, 'find'>): boolean
}

/** One way to write a step of a kind. */
export type StepForm = {
  /** The key that identifies this form. */
  readonly mark: string
  readonly keys: ConfigKeys
  /** Default: the mark alone. With `type` among them, the mark does not imply the kind. */
  readonly required?: readonly string[]
  /**
   * Reads the fields of this form; all keys are known, and the required ones are there. Returns
   * undefined where too much is wrong with it.
   */
  parse(given: RawStep, context: StepParseContext): ParsedStep | undefined
}

/** A step as it was written. */
export type RawStep = { readonly [key: string]: unknown }

export type StepParseContext = {
  readonly reader: DefinitionReader
  /** Parses steps inside the step; `role` says how they are named. */
  steps(value: unknown, reader: DefinitionReader, role: 'steps' | 'tasks'): readonly StepDraft[]
  /** Parses another workflow: a definition, or the name of its file. */
  workflow(value: unknown, reader: DefinitionReader): Workflow | undefined
}

export type ParsedStep = { readonly fields: object; readonly inside?: readonly StepDraftGroup[] }

/** A list of steps inside a step: `path` leads to it, and `key` joins its keys to the outer key. */
export type StepList = {
  readonly steps: readonly WorkflowStep[]
  readonly path: KeyPath
  readonly key: string
}

export type NestedInput = {
  readonly input: unknown
  readonly schema: JsonSchema
  /** The name of the workflow. */ readonly name: string
}

export type PlacedQuestion = {
  readonly asked: Pick<WorkflowQuestion, 'options' | 'schema' | 'default'>
  readonly path: KeyPath
}

/** Computes a value that follows from the input alone; otherwise returns undefined. */
export type ComputeKnown = <Value>(
  expressions: readonly Expression[],
  compute: (scope: ExpressionScope) => Value,
) => Value | undefined

/** A step in a plan. */
export type PlannedStep = {
  /** Its key in an execution; `*` stands for the position of an item. */
  readonly key: string
  readonly kind: StepType
  /** How many steps are around it. */
  readonly depth: number
  /** `finally`: runs in any case; `compensate`: runs only to undo something. */
  readonly role: 'step' | 'finally' | 'compensate'
  readonly tool?: string
  readonly command?: string
  /** The words of its command, if they follow from the input. */
  readonly words?: readonly string[]
  /** The input of its tool or workflow; with an input, what follows from that is filled in. */
  readonly input?: unknown
  readonly when?: string
  /** Whether its condition holds, if that follows from the input. */
  readonly taken?: boolean
  /** What must be there before it: `steps.scan`, `input.root`. */
  readonly needs: readonly string[]
  readonly items?: unknown
  readonly as?: string
  /** How many items there are, if that follows from the input. */
  readonly count?: number
  readonly wait?: JsonObject
  readonly question?: string
  readonly workflow?: string
  /** What it does, in words, for kinds without a field of their own. */
  readonly text?: string
  readonly retry?: RetryPolicy
  /** Seconds. */
  readonly timeout?: number
  readonly concurrency?: number
  readonly on_error?: 'stop' | 'continue'
}

export type PlannedFields = Partial<PlannedStep>

const MAX_PLAN_TEXT_LENGTH = 100

/** A value as a line of a plan shows it. */
export function toPlanText(value: unknown): string {
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), MAX_PLAN_TEXT_LENGTH)
}

/** The steps of drafts, without those that could not be read. */
export function getSteps(drafts: readonly StepDraft[]): readonly WorkflowStep[] {
  return drafts.flatMap(({ step }) => step ?? [])
}

const MAX_CONCURRENCY = 1000
const DEFAULT_CONCURRENCY = 4

/** The shape of `max_concurrency`. */
export const CONCURRENCY_SHAPE = anyShape(
  { type: 'integer', minimum: 1, maximum: MAX_CONCURRENCY, default: DEFAULT_CONCURRENCY },
  'How many at the same time',
)

/** Parses `max_concurrency`. */
export function parseConcurrency(
  { max_concurrency: most = DEFAULT_CONCURRENCY }: RawStep,
  reader: DefinitionReader,
): number | undefined {
  if (Number.isInteger(most) && Number(most) >= 1 && Number(most) <= MAX_CONCURRENCY)
    return Number(most)
  return reader.addFieldProblem(
    'max_concurrency',
    `'max_concurrency' must be a whole number from 1 to ${MAX_CONCURRENCY}; got ${describeValue(most)}`,
  )
}
