/**
 * The step kind `wait`: waits for a duration, until a time, or for an answer.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CommonStep } from '../definition/model.ts'
import type { DefinitionReader } from '../definition/reader.ts'
import { describeValue, formatDuration } from '../definition/reader.ts'
import type { ConfigKeys } from '../definition/schema.ts'
import { anyShape, durationShape, textShape, toObjectSchema } from '../definition/schema.ts'
import type { DurableOperation } from '../engine.ts'
import { EXPRESSION_OPEN } from '../expression-parser.ts'
import type { ExpressionScope } from '../expressions.ts'
import { interpolate } from '../expressions.ts'
import { createOkRecord, runOperation, runWithTimeout } from './flow.ts'
import type { ParsedStep, RawStep, StepKind, StepParseContext } from './kind.ts'
import { toPlanText } from './kind.ts'
import type { QuestionFields } from './questions.ts'
import { askQuestion, parseQuestion, QUESTION_KEYS } from './questions.ts'

type Pause = { readonly for: number | string } | { readonly until: string }
type Answer = QuestionFields & { readonly prompt: string }

/** Waits: for a duration, until a time, or for an answer. */
export type WaitStep = CommonStep & { readonly type: 'wait' } & (
    Pause | { readonly answer: Answer }
  )

declare module '../definition/model.ts' {
  interface StepTypes {
    readonly wait: WaitStep
  }
}

// A time without its zone is another one on every machine.
const TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

const { schema: SCHEMA_KEY, options: OPTIONS_KEY, default: DEFAULT_KEY } = QUESTION_KEYS
// Messages name the keys in this order.
const ANSWER_KEYS: ConfigKeys = {
  prompt: textShape('What is asked'),
  schema: SCHEMA_KEY,
  options: OPTIONS_KEY,
  default: DEFAULT_KEY,
}

const WAIT_KEYS: ConfigKeys = {
  for: durationShape('How long'),
  until: textShape('Until when: a date and time with its zone, or an expression'),
  answer: anyShape(
    { anyOf: [{ type: 'string', minLength: 1 }, toObjectSchema(ANSWER_KEYS, ['prompt'])] },
    'A question to wait for',
  ),
}

type ParseWait = (value: unknown, reader: DefinitionReader) => ParsedStep | undefined

const WAIT_PARSERS: { readonly [way: string]: ParseWait } = {
  for: parseFor,
  until: parseUntil,
  answer: parseAnswer,
}

// The question may be in `wait` or beside `type`.
const answerPaths = new WeakMap<Answer, KeyPath>()

export const waitStep: StepKind<WaitStep> = {
  forms: [
    {
      // wait: 10m, or wait: {for: ...}, {until: ...}, {answer: ...}
      mark: 'wait',
      keys: {
        wait: anyShape(
          {
            anyOf: [
              { type: ['number', 'string'], minimum: 0 },
              { ...toObjectSchema(WAIT_KEYS), minProperties: 1, maxProperties: 1 },
            ],
          },
          'How long, until when, or for which answer',
        ),
      },
      parse: ({ wait }, { reader }) => parseWait(wait, reader.at('wait')),
    },
    // type: wait, with one of the ways beside it
    ...Object.entries(WAIT_PARSERS).map(([way, parse]) => ({
      mark: way,
      keys: { [way]: WAIT_KEYS[way]! },
      required: ['type', way],
      parse: (given: RawStep, { reader }: StepParseContext) => parse(given[way], reader.at(way)),
    })),
  ],
  enforcesTimeout: true,
  *run(step, at, path) {
    const { name: action, timeout } = step
    if ('answer' in step) {
      const prompt = String(interpolate(step.answer.prompt, at.scope))
      return yield* askQuestion(path, at, step.answer, { action, prompt, timeout })
    }
    const pause = runOperation({ kind: 'sleep', key: path, until: getSleepUntil(step, at.scope) })
    yield* timeout === undefined ? pause : runWithTimeout(`${path}~timeout`, timeout, pause)
    return createOkRecord(null)
  },
  label(step) {
    if ('answer' in step) return step.answer.prompt
    return 'until' in step ? `until ${step.until}` : `wait ${formatFor(step.for)}`
  },
  brackets: ['([', '])'],
  plan(step) {
    if ('answer' in step) return { question: step.answer.prompt }
    return { wait: 'for' in step ? { for: step.for } : { until: step.until } }
  },
  describe({ question, wait: { for: time, until } = {} }) {
    if (question !== undefined) return `waits for an answer: ${toPlanText(question)}`
    return until === undefined ? `waits ${formatFor(time)}` : `waits until ${String(until)}`
  },
  question: (step, path) =>
    'answer' in step
      ? { asked: step.answer, path: answerPaths.get(step.answer) ?? [...path, 'wait', 'answer'] }
      : undefined,
}

function formatFor(time: unknown): string {
  return typeof time === 'number' ? formatDuration(time) : String(time)
}

function parseWait(wait: unknown, reader: DefinitionReader): ParsedStep | undefined {
  if (!isObject(wait)) return parseFor(wait, reader)
  reader.checkKeys(wait, Object.keys(WAIT_KEYS), "'wait'")
  const [way, ...others] = Object.keys(WAIT_KEYS).filter((key) => wait[key] !== undefined)
  if (way !== undefined && others.length === 0) return WAIT_PARSERS[way]!(wait[way], reader.at(way))
  return reader.addProblem(
    `'wait' needs one of 'for', 'until' and 'answer'; it has ${way === undefined ? 'none' : [way, ...others].join(' and ')}`,
    'Write wait: 10m',
  )
}

function parseFor(value: unknown, reader: DefinitionReader): ParsedStep {
  const time = isExpression(value) ? reader.value(value) : reader.duration(value, 'none')
  return { fields: { for: time } }
}

function parseUntil(value: unknown, reader: DefinitionReader): ParsedStep {
  const isTime =
    typeof value === 'string' && TIMESTAMP_PATTERN.test(value) && !Number.isNaN(Date.parse(value))
  if (!isTime && !isExpression(value))
    reader.addProblem(
      `'until' must be a date and time with its zone, or an expression; got ${describeValue(value)}`,
      "Write until: '2030-01-31T08:00:00Z'",
    )
  return { fields: { until: reader.value(value) } }
}

function parseAnswer(value: unknown, reader: DefinitionReader): ParsedStep | undefined {
  const given = typeof value === 'string' ? { prompt: value } : value
  if (!isObject(given))
    return reader.addProblem(
      `'answer' must be a question; got ${describeValue(value)}`,
      'Write answer: Shall I go on?',
    )
  reader.checkKeys(given, Object.keys(ANSWER_KEYS), "'answer'")
  const { prompt } = given
  if (typeof prompt !== 'string' || prompt === '')
    reader.addFieldProblem('prompt', `'prompt' must be a text; got ${describeValue(prompt)}`)
  const at = typeof value === 'string' ? reader : reader.at('prompt')
  at.value(prompt ?? '')
  const { schema, ...question } = parseQuestion(given, reader)
  const answer = compact({ prompt, schema, ...question }) as Answer
  answerPaths.set(answer, reader.path)
  return { fields: { answer } }
}

function isExpression(value: unknown): value is string {
  return typeof value === 'string' && value.includes(EXPRESSION_OPEN)
}

function getSleepUntil(
  step: Pause,
  scope: ExpressionScope,
): Extract<DurableOperation, { readonly kind: 'sleep' }>['until'] {
  if ('for' in step) {
    if (typeof step.for === 'number') return { seconds: step.for }
    const time = interpolate(step.for, scope) as number | string
    return { seconds: toMilliseconds(time, 'for') / 1000 }
  }
  const time = String(interpolate(step.until, scope))
  if (Number.isNaN(Date.parse(time)))
    throw new ToolError(
      'INVALID_INPUT',
      `'${time.slice(0, 100)}' is no moment: write it as 2026-12-31T18:00:00Z`,
      { field: 'until' },
    )
  return { time }
}
