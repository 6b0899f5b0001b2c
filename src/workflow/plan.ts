/**
 * What a workflow would do: the plan that `workflow plan` and the dashboard show, as data and as
 * text, and the workflow as a Mermaid flowchart.
 */

import { shorten } from '../util/text.ts'
import { compact } from '../util/values.ts'
import type { Workflow, WorkflowStep } from './definition/model.ts'
import { formatDuration } from './definition/reader.ts'
import type { WalkedStep } from './definition/walk.ts'
import { walkSteps } from './definition/walk.ts'
import type { Expression, PathExpression } from './expression-parser.ts'
import {
  EXPRESSION_OPEN,
  listExpressions,
  listReferences,
  parseCondition,
} from './expression-parser.ts'
import type { ExpressionScope } from './expressions.ts'
import { interpolate, isConditionTrue, mapJsonStrings, toInterpolatedText } from './expressions.ts'
import type { ComputeKnown, PlannedStep } from './steps/kind.ts'
import { toPlanText } from './steps/kind.ts'
import { getStepKind } from './steps/table.ts'

/** What a workflow would do, in which order and within which limits. */
export type WorkflowPlan = {
  readonly name: string
  readonly summary?: string
  readonly timeout?: number
  readonly steps: readonly PlannedStep[]
  readonly output?: unknown
}

/**
 * What a workflow would do, without doing any of it. With an input, values that follow from the
 * input alone are filled in.
 */
export function createPlan(workflow: Workflow, input?: unknown): WorkflowPlan {
  const { name, summary, timeout, output } = workflow
  const scope: ExpressionScope | undefined =
    input === undefined ? undefined : { input, steps: {}, workflow: { id: '', name }, items: {} }
  const steps = [...walkSteps(workflow)].map((walked) => {
    const hasOtherInput = walked.around.some((step) => getStepKind(step).hasOwnInput)
    return planStep(walked, hasOtherInput ? undefined : scope)
  })
  return compact({ name, summary, timeout, steps, output: fillKnownTexts(output, scope) })
}

function planStep({ step, key, path, around }: WalkedStep, scope?: ExpressionScope): PlannedStep {
  const kind = getStepKind(step)
  const { when, retry, timeout, on_error } = step
  const known: ComputeKnown = (expressions, compute) =>
    scope && dependsOnlyOnInput(expressions) ? tryOrUndefined(() => compute(scope)) : undefined
  const conditions = when === undefined ? [] : [parseCondition(when)]
  const expressions = [...conditions, ...listOwnExpressions(step)]
  const { words, count, input, question, wait, text, ...fields } = kind.plan(step, known)
  return compact({
    key,
    kind: step.type,
    depth: around.length,
    role: getRole(path),
    ...fields,
    input: fillKnownTexts(input, scope),
    question: question && toInterpolatedText(fillKnownTexts(question, scope)),
    wait: fillKnownTexts(wait, scope),
    text: text && toInterpolatedText(fillKnownTexts(text, scope)),
    when,
    needs: [...new Set(expressions.flatMap(listReferences).map(formatReference))],
    taken: when === undefined ? undefined : known(conditions, (of) => isConditionTrue(when, of)),
    words,
    count,
    retry,
    timeout,
    concurrency: 'max_concurrency' in step ? step.max_concurrency : undefined,
    on_error,
  })
}

function getRole(path: WalkedStep['path']): PlannedStep['role'] {
  if (path.includes('compensate')) return 'compensate'
  return path.includes('finally') ? 'finally' : 'step'
}

/** The expressions of a step itself, without its condition and the steps inside it. */
function listOwnExpressions(step: WorkflowStep): readonly Expression[] {
  const { expressions, childKeys = [] } = getStepKind(step)
  if (expressions) return expressions(step)
  const skipped = ['when', 'compensate', ...childKeys]
  const own = Object.entries(step).filter(([key]) => !skipped.includes(key))
  return listExpressions(own)
}

// Fills in the texts that follow from the input alone; the others stay as they are written.
function fillKnownTexts<Value>(value: Value, scope: ExpressionScope | undefined): Value {
  if (!scope || value === undefined) return value
  return mapJsonStrings(value, (text) => {
    const isKnown = text.includes(EXPRESSION_OPEN) && dependsOnlyOnInput(listExpressions(text))
    const filled = isKnown ? tryOrUndefined(() => interpolate(text, scope)) : undefined
    return filled === undefined ? text : filled
  }) as Value
}

function dependsOnlyOnInput(expressions: readonly Expression[]): boolean {
  return expressions.flatMap(listReferences).every(({ root }) => root === 'input')
}

function tryOrUndefined<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch {
    // What cannot be computed now fails when the step runs; a plan only looks.
    return undefined
  }
}

function formatReference({ root, keys }: PathExpression): string {
  return ['steps', 'input', 'workflow'].includes(root) && keys.length > 0
    ? `${root}.${String(keys[0])}`
    : root
}

/** A plan for a person: a line for each step, and below it what it needs and its limits. */
export function formatPlan({ name, summary, timeout, steps, output }: WorkflowPlan): string {
  const title = summary === undefined ? name : `${name}: ${summary}`
  return [
    timeout === undefined ? title : `${title} (at most ${formatDuration(timeout)})`,
    ...steps.flatMap(formatPlannedStep),
    ...(output === undefined ? [] : [`  gives ${toPlanText(output)}`]),
  ]
    .map((line) => `${line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')}\n`)
    .join('')
}

function formatPlannedStep(step: PlannedStep): readonly string[] {
  const indent = '  '.repeat(step.depth + 1)
  const { when, needs, retry, timeout, concurrency } = step
  const describe = getStepKind({ type: step.kind }).describe ?? (({ text = step.kind }) => text)
  const limits = [
    when === undefined ? undefined : `when ${when}${formatTaken(step.taken)}`,
    needs.length === 0 ? undefined : `needs ${needs.join(', ')}`,
    retry && formatRetry(retry),
    timeout === undefined ? undefined : `at most ${formatDuration(timeout)}`,
    concurrency === undefined ? undefined : `${concurrency} at the same time`,
    step.on_error === 'continue' ? 'goes on after a failure' : undefined,
  ].filter((limit) => limit !== undefined)
  return [
    `${indent}${step.key}  ${describe(step)}`,
    ...(limits.length === 0 ? [] : [`${indent}    ${limits.join('; ')}`]),
  ]
}

function formatTaken(taken: boolean | undefined): string {
  if (taken === undefined) return ''
  return taken ? ' (it is)' : ' (it is not: skipped)'
}

function formatRetry({ max, delay, on }: NonNullable<PlannedStep['retry']>): string {
  if (max === 0) return 'never tried again'
  return `tried again ${max === 1 ? 'once' : `${max} times`} ${on ? `after ${on.join(', ')}` : 'whatever failed'}, first after ${formatDuration(delay)}`
}

const MAX_LABEL_LENGTH = 80
// What Mermaid reads as markup in a label, also in quotes: entities, tags, markdown, directives.
const MERMAID_SPECIAL_CHARACTERS = /["#<>&`%{}[\]\\]/g
const RECTANGLE = ['[', ']'] as const
const ROUNDED = ['([', '])'] as const

/** A workflow as a Mermaid flowchart: the same text for the same workflow. */
export function toMermaid({ name, steps, finally: last }: Workflow): string {
  const chart = new MermaidChart()
  const start = chart.node(name, ROUNDED)
  const done = chart.list(steps, [start])
  const after = last ? chart.group('finally', () => chart.list(last, []), done) : done
  chart.connect(after, chart.node('done', ROUNDED))
  return chart.text()
}

class MermaidChart {
  private readonly lines: string[] = ['flowchart TD']
  private count = 0
  private depth = 1

  /** A box; the ids are generated, because names may be words of Mermaid. */
  node(label: string, [open, close]: readonly [open: string, close: string]): string {
    const id = this.id()
    this.write(`${id}${open}"${escapeLabel(label)}"${close}`)
    return id
  }

  connect(from: readonly string[], to: string, label?: string): void {
    for (const id of from)
      this.write(`${id} -->${label === undefined ? '' : `|"${escapeLabel(label)}"|`} ${to}`)
  }

  /** Steps in their order; returns what the next one follows. */
  list(steps: readonly WorkflowStep[], from: readonly string[]): readonly string[] {
    return steps.reduce<readonly string[]>((before, step) => this.step(step, before), from)
  }

  /** Boxes in a frame; the frame as a whole follows what is before. */
  group(
    label: string,
    draw: () => void,
    from: readonly string[],
    condition?: string,
  ): readonly string[] {
    const id = this.id()
    this.write(`subgraph ${id}["${escapeLabel(label)}"]`)
    this.depth += 1
    draw()
    this.depth -= 1
    this.write('end')
    this.connect(from, id, condition)
    return [id]
  }

  text(): string {
    return `${this.lines.join('\n')}\n`
  }

  private step(step: WorkflowStep, from: readonly string[]): readonly string[] {
    const here = this.shape(step, from, step.when === undefined ? undefined : `when ${step.when}`)
    if (step.compensate) this.undo(step.compensate, here[0]!)
    return here
  }

  private shape(
    step: WorkflowStep,
    from: readonly string[],
    condition?: string,
  ): readonly string[] {
    const kind = getStepKind(step)
    const label = `${step.name}: ${kind.label(step)}`
    const inside = kind.children?.(step).flatMap(({ steps }) => steps) ?? []
    if (inside.length > 0) {
      const lists = kind.isConcurrent ? inside.map((one) => [one]) : [inside]
      return this.group(label, () => lists.forEach((list) => this.list(list, [])), from, condition)
    }
    const id = this.node(label, kind.brackets ?? RECTANGLE)
    this.connect(from, id, condition)
    return [id]
  }

  private undo(steps: readonly WorkflowStep[], from: string): void {
    let before = from
    for (const step of steps) {
      const [id] = this.shape(step, [])
      this.write(`${before} -.->|"undo"| ${id!}`)
      before = id!
    }
  }

  private id(): string {
    this.count += 1
    return `n${this.count}`
  }

  private write(line: string): void {
    this.lines.push('  '.repeat(this.depth) + line)
  }
}

function escapeLabel(label: string): string {
  const plain = shorten(
    label.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim(),
    MAX_LABEL_LENGTH,
  )
  return (
    plain.replace(MERMAID_SPECIAL_CHARACTERS, (character) => `#${character.charCodeAt(0)};`) || ' '
  )
}
