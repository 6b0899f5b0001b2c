import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { shorten } from '../../contract/shorten.ts'
import type { PlannedStep, WorkflowPlan } from './plan-of.ts'
import { describeSeconds } from './seconds.ts'

const LONGEST = 100

/** A plan for a person: a line for each step, and below it what it needs and its limits. */
export function planText({ name, summary, timeout, steps, output }: WorkflowPlan): string {
  return [
    `${name}${summary === undefined ? '' : `: ${summary}`}${timeout === undefined ? '' : ` (at most ${describeSeconds(timeout)})`}`,
    ...steps.flatMap(describeStep),
    ...(output === undefined ? [] : [`  gives ${shortJson(output)}`]),
  ]
    .map((line) => `${line.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')}\n`)
    .join('')
}

function describeStep(step: PlannedStep): readonly string[] {
  const indent = '  '.repeat(step.depth + 1)
  const limits = [
    ...(step.when === undefined
      ? []
      : [
          `when ${step.when}${step.taken === undefined ? '' : step.taken ? ' (it is)' : ' (it is not: skipped)'}`,
        ]),
    ...(step.needs.length === 0 ? [] : [`needs ${step.needs.join(', ')}`]),
    ...(step.retry === undefined ? [] : [describeRetry(step.retry)]),
    ...(step.timeout === undefined ? [] : [`at most ${describeSeconds(step.timeout)}`]),
    ...(step.concurrency === undefined ? [] : [`${step.concurrency} at the same time`]),
    ...(step.on_error === 'continue' ? ['goes on after a failure'] : []),
  ]
  return [
    `${indent}${step.key}  ${whatOf(step)}`,
    ...(limits.length === 0 ? [] : [`${indent}    ${limits.join('; ')}`]),
  ]
}

function describeRetry({ max, delay, on }: NonNullable<PlannedStep['retry']>): string {
  if (max === 0) return 'never tried again'
  return `tried again ${max === 1 ? 'once' : `${max} times`} ${on ? `after ${on.join(', ')}` : 'whatever failed'}, first after ${describeSeconds(delay)}`
}

function whatOf(step: PlannedStep): string {
  switch (step.kind) {
    case 'tool':
      return step.words
        ? step.words.map(quoteForShell).join(' ')
        : (step.command ??
            `${step.tool}${step.input === undefined ? '' : ` ${shortJson(step.input)}`}`)
    case 'ai_decision':
      return `asks: ${shorten(step.question ?? '', LONGEST)}`
    case 'parallel':
      return 'all of these at once'
    case 'each':
      return `for each '${step.as ?? ''}' of ${shortJson(step.items)}${step.count === undefined ? '' : ` (${step.count})`}`
    case 'workflow':
      return `the workflow ${step.workflow ?? ''}${step.input === undefined ? '' : ` ${shortJson(step.input)}`}`
    case 'wait':
      return step.question === undefined
        ? describeWait(step.wait)
        : `waits for an answer: ${shorten(step.question, LONGEST)}`
  }
}

function describeWait(wait: PlannedStep['wait']): string {
  const { for: time, until } = wait ?? {}
  return until === undefined
    ? `waits ${typeof time === 'number' ? describeSeconds(time) : String(time)}`
    : `waits until ${String(until)}`
}

function shortJson(value: unknown): string {
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), LONGEST)
}
