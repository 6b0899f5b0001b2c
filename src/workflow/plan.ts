/**
 * What a workflow would do: the plan that `workflow plan` and the dashboard show, as data and as
 * text.
 */

import { quoteForShell, shorten } from '../util/text.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import { interpolateCommand, splitCommand } from './command-line.ts'
import type { RetryPolicy, StepType, Workflow, WorkflowStep } from './definition/model.ts'
import { formatDuration } from './definition/reader.ts'
import { getToolName, walkSteps } from './definition/walk.ts'
import type { WalkedStep } from './definition/walk.ts'
import {
  EXPRESSION_OPEN,
  listReferences,
  parseCondition,
  parseTemplate,
} from './expression-parser.ts'
import type { Expression, ExpressionTemplate, PathExpression } from './expression-parser.ts'
import { interpolate, isConditionTrue, mapJsonStrings, toInterpolatedText } from './expressions.ts'
import type { ExpressionScope } from './expressions.ts'

/** A step that would be taken. */
export type PlannedStep = {
  /** Its key in an execution; `*` stands for the position of an item. */
  readonly key: string
  readonly kind: StepType
  /** How many steps are around it. */
  readonly depth: number
  /** `finally`: taken however it ends; `compensate`: taken only to take something back. */
  readonly role: 'step' | 'finally' | 'compensate'
  readonly tool?: string
  readonly command?: string
  /** The words of its command, where the input alone says them. */
  readonly words?: readonly string[]
  /** What its tool or its workflow is given; with an input, what that alone says is put in. */
  readonly input?: unknown
  readonly when?: string
  /** Whether its condition holds, where the input alone says so. */
  readonly taken?: boolean
  /** What has to be there before it: `steps.scan`, `input.root`. */
  readonly needs: readonly string[]
  readonly items?: unknown
  readonly as?: string
  /** How many items there are, where the input alone says so. */
  readonly count?: number
  readonly wait?: JsonObject
  readonly question?: string
  readonly workflow?: string
  readonly retry?: RetryPolicy
  /** Seconds. */
  readonly timeout?: number
  readonly concurrency?: number
  readonly on_error?: 'stop' | 'continue'
}

/** What would be done, in which order and within which limits. */
export type WorkflowPlan = {
  readonly name: string
  readonly summary?: string
  readonly timeout?: number
  readonly steps: readonly PlannedStep[]
  readonly output?: unknown
}

/**
 * What a workflow would do, without doing any of it. With an input, what follows from the input
 * alone is worked out.
 */
export function createPlan(workflow: Workflow, input?: unknown): WorkflowPlan {
  const { name, summary, timeout, output } = workflow
  const scope: ExpressionScope | undefined =
    input === undefined ? undefined : { input, steps: {}, workflow: { id: '', name }, items: {} }
  const steps = [...walkSteps(workflow)].map((walked) =>
    planStep(walked, isInNestedWorkflow(walked) ? undefined : scope),
  )
  return compact({
    name,
    summary,
    timeout,
    steps,
    output:
      output !== undefined ? (scope ? interpolateKnownTexts(output, scope) : output) : undefined,
  })
}

function planStep(
  { step, key, path, depth }: WalkedStep,
  scope: ExpressionScope | undefined,
): PlannedStep {
  const { when, retry, timeout, on_error: onError } = step
  return {
    key,
    kind: step.type,
    depth,
    role: path.includes('compensate')
      ? 'compensate'
      : path.includes('finally')
        ? 'finally'
        : 'step',
    ...(scope ? interpolateKnownFields(getKindFields(step), scope) : getKindFields(step)),
    ...compact({ when }),
    needs: listStepDependencies(step),
    ...(scope && computeKnownFields(step, scope)),
    ...compact({
      retry,
      timeout,
      concurrency: 'max_concurrency' in step ? step.max_concurrency : undefined,
      on_error: onError,
    }),
  }
}

type PlannedFields = Partial<PlannedStep>

function getKindFields(step: WorkflowStep): PlannedFields {
  switch (step.type) {
    case 'tool':
      return {
        tool: getToolName(step),
        ...('command' in step
          ? { command: step.command }
          : step.input !== undefined && { input: step.input }),
      }
    case 'ai_decision':
      return { question: step.instruction ?? step.decision_type }
    case 'each':
      return { items: step.items, as: step.as }
    case 'workflow':
      return compact({ workflow: step.workflow.name, input: step.input })
    case 'wait':
      return 'answer' in step
        ? { question: step.answer.prompt }
        : { wait: 'for' in step ? { for: step.for } : { until: step.until } }
    case 'parallel':
      return {}
  }
}

function interpolateKnownFields(
  { input, question, wait, ...rest }: PlannedFields,
  scope: ExpressionScope,
): PlannedFields {
  return {
    ...rest,
    ...compact({
      input: input !== undefined ? interpolateKnownTexts(input, scope) : undefined,
      question:
        question !== undefined
          ? toInterpolatedText(interpolateKnownTexts(question, scope))
          : undefined,
      wait: wait ? interpolateKnownTexts(wait, scope) : undefined,
    }),
  }
}

// The texts that the input alone says; the others stay as they are written.
function interpolateKnownTexts<Value>(value: Value, scope: ExpressionScope): Value {
  return mapJsonStrings(value, (text) => {
    const filled =
      text.includes(EXPRESSION_OPEN) && dependsOnlyOnInput(listExpressions(text))
        ? tryOrUndefined(() => interpolate(text, scope))
        : undefined
    return filled === undefined ? text : filled
  }) as Value
}

function computeKnownFields(step: WorkflowStep, scope: ExpressionScope): PlannedFields {
  const followsFrom = (part: Partial<WorkflowStep>): boolean =>
    dependsOnlyOnInput(
      listStepExpressions({ ...part, type: step.type, name: step.name } as WorkflowStep),
    )
  const taken =
    step.when !== undefined && followsFrom({ when: step.when })
      ? tryOrUndefined(() => isConditionTrue(step.when!, scope))
      : undefined
  const words =
    'command' in step && followsFrom({ command: step.command })
      ? tryOrUndefined(() => interpolateCommand(step.command, scope))
      : undefined
  const items =
    step.type === 'each' && followsFrom({ items: step.items })
      ? tryOrUndefined(() => interpolate(step.items, scope))
      : undefined
  return compact({ taken, words, count: Array.isArray(items) ? items.length : undefined })
}

function dependsOnlyOnInput(expressions: readonly Expression[]): boolean {
  return expressions.flatMap(listReferences).every(({ root }) => root === 'input')
}

function tryOrUndefined<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch {
    // What cannot be worked out now fails when it is taken; a plan only looks.
    return undefined
  }
}

// A nested workflow has an input of its own.
function isInNestedWorkflow({ around }: WalkedStep): boolean {
  return around.some(({ type }) => type === 'workflow')
}

// What holds steps of their own, which speak for themselves.
const EXCLUDED_KEYS = new Set([
  'tasks',
  'do',
  'compensate',
  'workflow',
  'when',
  'command',
  'permissions',
  'schema',
  'retry',
])

/** The expressions of a step itself, without those of steps inside it. */
function listStepExpressions(step: WorkflowStep): readonly Expression[] {
  const { when } = step
  return [
    ...(when === undefined ? [] : [parseCondition(when)]),
    ...('command' in step ? pickExpressions(splitCommand(step.command).flat()) : []),
    ...Object.entries(step).flatMap(([key, value]) =>
      EXCLUDED_KEYS.has(key) ? [] : listExpressions(value),
    ),
  ]
}

/**
 * What a step needs before it can be taken: `steps.scan`, `input.root`, names of items; each once,
 * in the order of the text.
 */
function listStepDependencies(step: WorkflowStep): readonly string[] {
  return [...new Set(listStepExpressions(step).flatMap(listReferences).map(formatReference))]
}

/** The expressions in the texts of a value. */
function listExpressions(value: unknown): readonly Expression[] {
  if (typeof value === 'string')
    return value.includes(EXPRESSION_OPEN) ? pickExpressions(parseTemplate(value)) : []
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(listExpressions)
    : []
}

function pickExpressions(parts: ExpressionTemplate): readonly Expression[] {
  return parts.filter((part): part is Expression => typeof part === 'object')
}

function formatReference({ root, keys }: PathExpression): string {
  return ['steps', 'input', 'workflow'].includes(root) && keys.length > 0
    ? `${root}.${String(keys[0])}`
    : root
}

const MAX_PLAN_TEXT_LENGTH = 100

/** A plan for a person: a line for each step, and below it what it needs and its limits. */
export function formatPlan({ name, summary, timeout, steps, output }: WorkflowPlan): string {
  return [
    `${name}${summary === undefined ? '' : `: ${summary}`}${timeout === undefined ? '' : ` (at most ${formatDuration(timeout)})`}`,
    ...steps.flatMap(formatPlannedStep),
    ...(output === undefined ? [] : [`  gives ${toShortJson(output)}`]),
  ]
    .map((line) => `${line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')}\n`)
    .join('')
}

function formatPlannedStep(step: PlannedStep): readonly string[] {
  const indent = '  '.repeat(step.depth + 1)
  const limits = [
    ...(step.when === undefined
      ? []
      : [
          `when ${step.when}${step.taken === undefined ? '' : step.taken ? ' (it is)' : ' (it is not: skipped)'}`,
        ]),
    ...(step.needs.length === 0 ? [] : [`needs ${step.needs.join(', ')}`]),
    ...(step.retry === undefined ? [] : [formatRetry(step.retry)]),
    ...(step.timeout === undefined ? [] : [`at most ${formatDuration(step.timeout)}`]),
    ...(step.concurrency === undefined ? [] : [`${step.concurrency} at the same time`]),
    ...(step.on_error === 'continue' ? ['goes on after a failure'] : []),
  ]
  return [
    `${indent}${step.key}  ${describeAction(step)}`,
    ...(limits.length === 0 ? [] : [`${indent}    ${limits.join('; ')}`]),
  ]
}

function formatRetry({ max, delay, on }: NonNullable<PlannedStep['retry']>): string {
  if (max === 0) return 'never tried again'
  return `tried again ${max === 1 ? 'once' : `${max} times`} ${on ? `after ${on.join(', ')}` : 'whatever failed'}, first after ${formatDuration(delay)}`
}

function describeAction(step: PlannedStep): string {
  switch (step.kind) {
    case 'tool':
      return step.words
        ? step.words.map(quoteForShell).join(' ')
        : (step.command ??
            `${step.tool}${step.input === undefined ? '' : ` ${toShortJson(step.input)}`}`)
    case 'ai_decision':
      return `asks: ${shorten(step.question ?? '', MAX_PLAN_TEXT_LENGTH)}`
    case 'parallel':
      return 'all of these at once'
    case 'each':
      return `for each '${step.as ?? ''}' of ${toShortJson(step.items)}${step.count === undefined ? '' : ` (${step.count})`}`
    case 'workflow':
      return `the workflow ${step.workflow ?? ''}${step.input === undefined ? '' : ` ${toShortJson(step.input)}`}`
    case 'wait':
      return step.question === undefined
        ? formatWait(step.wait)
        : `waits for an answer: ${shorten(step.question, MAX_PLAN_TEXT_LENGTH)}`
  }
}

function formatWait(wait: PlannedStep['wait']): string {
  const { for: time, until } = wait ?? {}
  return until === undefined
    ? `waits ${typeof time === 'number' ? formatDuration(time) : String(time)}`
    : `waits until ${String(until)}`
}

function toShortJson(value: unknown): string {
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), MAX_PLAN_TEXT_LENGTH)
}
