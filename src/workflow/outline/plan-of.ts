import type { JsonObject } from '../../contract/json.ts'
import { toolOf } from '../definition/tools-of.ts'
import { walkSteps } from '../definition/walk-steps.ts'
import type { Walked } from '../definition/walk-steps.ts'
import type { Retry, Step, StepType, Workflow } from '../definition/workflow-type.ts'
import { copyJson } from '../expressions/copy-json.ts'
import { fill, textOf } from '../expressions/fill.ts'
import { fillCommand } from '../expressions/fill-command.ts'
import { isTrue } from '../expressions/is-true.ts'
import { OPEN } from '../expressions/parse-template.ts'
import { referencesOf } from '../expressions/syntax.ts'
import type { Expression } from '../expressions/syntax.ts'
import type { Scope } from '../expressions/scope-type.ts'
import { expressionsOf, expressionsOfStep, needsOf } from './expressions-of-step.ts'

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
  readonly retry?: Retry
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

/** What a workflow would do, without doing any of it. With an input, what follows from the input alone is worked out. */
export function planOf(workflow: Workflow, input?: unknown): WorkflowPlan {
  const { name, summary, timeout, output } = workflow
  const scope: Scope | undefined =
    input === undefined ? undefined : { input, steps: {}, workflow: { id: '', name }, items: {} }
  const steps = [...walkSteps(workflow)].map((walked) =>
    planStep(walked, isNested(walked) ? undefined : scope),
  )
  return {
    name,
    ...(summary !== undefined && { summary }),
    ...(timeout !== undefined && { timeout }),
    steps,
    ...(output !== undefined && { output: scope ? fillTexts(output, scope) : output }),
  }
}

function planStep({ step, key, path, depth }: Walked, scope: Scope | undefined): PlannedStep {
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
    ...(scope ? fillKnown(describeKind(step), scope) : describeKind(step)),
    ...(when !== undefined && { when }),
    needs: needsOf(step),
    ...(scope && workOut(step, scope)),
    ...(retry && { retry }),
    ...(timeout !== undefined && { timeout }),
    ...('max_concurrency' in step && { concurrency: step.max_concurrency }),
    ...(onError && { on_error: onError }),
  }
}

type Told = Partial<PlannedStep>

function describeKind(step: Step): Told {
  switch (step.type) {
    case 'tool':
      return {
        tool: toolOf(step),
        ...('command' in step
          ? { command: step.command }
          : step.input !== undefined && { input: step.input }),
      }
    case 'ai_decision':
      return { question: step.instruction ?? step.decision_type }
    case 'each':
      return { items: step.items, as: step.as }
    case 'workflow':
      return {
        workflow: step.workflow.name,
        ...(step.input !== undefined && { input: step.input }),
      }
    case 'wait':
      return 'answer' in step
        ? { question: step.answer.prompt }
        : { wait: 'for' in step ? { for: step.for } : { until: step.until } }
    case 'parallel':
      return {}
  }
}

function fillKnown({ input, question, wait, ...rest }: Told, scope: Scope): Told {
  return {
    ...rest,
    ...(input !== undefined && { input: fillTexts(input, scope) }),
    ...(question !== undefined && { question: textOf(fillTexts(question, scope)) }),
    ...(wait && { wait: fillTexts(wait, scope) }),
  }
}

// The texts that the input alone says; the others stay as they are written.
function fillTexts<Value>(value: Value, scope: Scope): Value {
  return copyJson(value, (text) => {
    const filled =
      text.includes(OPEN) && follows(expressionsOf(text))
        ? quietly(() => fill(text, scope))
        : undefined
    return filled === undefined ? text : filled
  }) as Value
}

function workOut(step: Step, scope: Scope): Told {
  const followsFrom = (part: Partial<Step>): boolean =>
    follows(expressionsOfStep({ ...part, type: step.type, name: step.name } as Step))
  const taken =
    step.when !== undefined && followsFrom({ when: step.when })
      ? quietly(() => isTrue(step.when!, scope))
      : undefined
  const words =
    'command' in step && followsFrom({ command: step.command })
      ? quietly(() => fillCommand(step.command, scope))
      : undefined
  const items =
    step.type === 'each' && followsFrom({ items: step.items })
      ? quietly(() => fill(step.items, scope))
      : undefined
  return {
    ...(taken !== undefined && { taken }),
    ...(words && { words }),
    ...(Array.isArray(items) && { count: items.length }),
  }
}

function follows(expressions: readonly Expression[]): boolean {
  return expressions.flatMap(referencesOf).every(({ root }) => root === 'input')
}

function quietly<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch {
    // What cannot be worked out now fails when it is taken; a plan only looks.
    return undefined
  }
}

// A nested workflow has an input of its own.
function isNested({ around }: Walked): boolean {
  return around.some(({ type }) => type === 'workflow')
}
