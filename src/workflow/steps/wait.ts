/**
 * The step kind `wait`: waits for a duration, until a time, or for an answer.
 */

import type { KeyPath } from '../../protocol/documents.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { WaitStep } from '../definition/model.ts'
import { describeValue, setQuestionPath } from '../definition/reader.ts'
import type { DefinitionReader, ExpressionUse } from '../definition/reader.ts'
import { ANSWER_KEYS, WAIT_KEYS } from '../definition/schema.ts'
import type { DurableOperation } from '../engine.ts'
import { interpolate } from '../expressions.ts'
import type { ExpressionScope } from '../expressions.ts'
import { createOkRecord, runOperation, runWithTimeout } from './flow.ts'
import type { ParsedStep, ParseStep, StepKind } from './flow.ts'
import { askQuestion, interpolateOptions, parseOptions } from './questions.ts'

// A moment without its zone is another one on every machine.
const TIMESTAMP_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

type ParseWait = (reader: DefinitionReader, value: unknown, path: KeyPath) => ParsedStep

const WAIT_PARSERS: { readonly [way: string]: ParseWait } = {
  for: parseWaitFor,
  until: parseWaitUntil,
  answer: parseWaitAnswer,
}

/** `wait: 10m`, or `wait: {for: ...}`, `{until: ...}`, `{answer: ...}` */
export const parseWaitStep: ParseStep = ({ wait }, path, { reader }) => {
  const at = [...path, 'wait']
  if (!isObject(wait)) return parseWaitFor(reader, wait, at)
  reader.checkKeys(wait, Object.keys(WAIT_KEYS), at, "'wait'")
  const ways = Object.keys(WAIT_PARSERS).filter((way) => wait[way] !== undefined)
  if (ways.length !== 1)
    return {
      fields: reader.addProblem(
        at,
        `'wait' needs one of 'for', 'until' and 'answer'; it has ${ways.length === 0 ? 'none' : ways.join(' and ')}`,
        'Write wait: 10m',
      ),
    }
  return WAIT_PARSERS[ways[0]!]!(reader, wait[ways[0]!], [...at, ways[0]!])
}

/** `type: wait` with one of the ways beside it. */
export const createWaitParser =
  (way: string): ParseStep =>
  (given, path, { reader }) =>
    WAIT_PARSERS[way]!(reader, given[way], [...path, way])

function parseWaitFor(reader: DefinitionReader, value: unknown, path: KeyPath): ParsedStep {
  if (isExpression(value)) {
    const read = reader.value(value, path)
    return { fields: { for: read.value }, uses: read.uses }
  }
  return { fields: { for: reader.duration(value, path, 'none') } }
}

function parseWaitUntil(reader: DefinitionReader, value: unknown, path: KeyPath): ParsedStep {
  if (
    !isExpression(value) &&
    (typeof value !== 'string' || !TIMESTAMP_PATTERN.test(value) || Number.isNaN(Date.parse(value)))
  )
    reader.addProblem(
      path,
      `'until' must be a date and time with its zone, or an expression; got ${describeValue(value)}`,
      "Write until: '2030-01-31T08:00:00Z'",
    )
  const read = reader.value(value, path)
  return { fields: { until: read.value }, uses: read.uses }
}

function parseWaitAnswer(reader: DefinitionReader, value: unknown, path: KeyPath): ParsedStep {
  const answer = typeof value === 'string' ? { prompt: value } : value
  if (!isObject(answer))
    return {
      fields: reader.addProblem(
        path,
        `'answer' must be a question; got ${describeValue(value)}`,
        'Write answer: Shall I go on?',
      ),
    }
  reader.checkKeys(answer, Object.keys(ANSWER_KEYS), path, "'answer'")
  const { prompt, schema, options, default: fallback } = answer
  if (typeof prompt !== 'string' || prompt === '')
    reader.addProblem([...path, 'prompt'], `'prompt' must be a text; got ${describeValue(prompt)}`)
  if (schema !== undefined && !isObject(schema))
    reader.addProblem([...path, 'schema'], "'schema' must be an object")
  const promptAt = typeof value === 'string' ? path : [...path, 'prompt']
  const read =
    options === undefined ? undefined : parseOptions(reader, options, [...path, 'options'])
  const uses: readonly ExpressionUse[] = [
    ...reader.value(prompt ?? '', promptAt).uses,
    ...(read?.uses ?? []),
    ...(fallback === undefined ? [] : reader.value(fallback, [...path, 'default']).uses),
  ]
  const asked = {
    prompt,
    ...compact({
      schema: schema !== undefined ? reader.value(schema, [...path, 'schema']).value : undefined,
      options: read ? read.options : undefined,
      default:
        fallback !== undefined ? reader.value(fallback, [...path, 'default']).value : undefined,
    }),
  }
  setQuestionPath(asked, path)
  return { fields: { answer: asked }, uses }
}

function isExpression(value: unknown): value is string {
  return typeof value === 'string' && value.includes('${{')
}

/** Waits for a time, a moment, or somebody. */
export const waitStep: StepKind<WaitStep> = {
  retriesByDefault: false,
  enforceTimeout: false,
  *run(step, { scope }, path) {
    const { timeout } = step
    if ('answer' in step) {
      const { prompt, options, default: preset, ...rest } = step.answer
      return createOkRecord(
        yield* askQuestion(path, {
          kind: options ? 'decision' : 'input',
          action: step.name,
          key: step.name,
          prompt: String(interpolate(prompt, scope)),
          ...compact({
            options: options ? interpolateOptions(options, scope) : undefined,
            default: preset !== undefined ? interpolate(preset, scope) : undefined,
          }),
          ...rest,
          ...compact({ timeout }),
        }),
      )
    }
    const pause = runOperation({ kind: 'sleep', key: path, until: getSleepUntil(step, scope) })
    yield* timeout === undefined ? pause : runWithTimeout(`${path}~timeout`, timeout, pause)
    return createOkRecord(null)
  },
}

function getSleepUntil(
  step: WaitStep & ({ readonly for: number | string } | { readonly until: string }),
  scope: ExpressionScope,
): (DurableOperation & { kind: 'sleep' })['until'] {
  if ('for' in step)
    return {
      seconds:
        typeof step.for === 'number'
          ? step.for
          : toMilliseconds(interpolate(step.for, scope) as number | string, 'for') / 1000,
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
