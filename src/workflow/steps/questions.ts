/**
 * What the two step kinds that ask, `ai_decision` and `wait`, share: the keys of a question, and
 * asking it.
 */

import type { InteractionOption } from '../../protocol/events.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { DefinitionReader } from '../definition/reader.ts'
import { describeValue } from '../definition/reader.ts'
import { anyShape, mapShape } from '../definition/schema.ts'
import type { WorkflowQuestion } from '../engine.ts'
import type { ExpressionScope, StepRecord } from '../expressions.ts'
import { interpolate, toInterpolatedText } from '../expressions.ts'
import type { Flow, StepLocation } from './flow.ts'
import { createOkRecord } from './flow.ts'
import type { RawStep } from './kind.ts'

/** The fields of a question in a definition. */
export type QuestionFields = Pick<WorkflowQuestion, 'options' | 'schema' | 'default'>

const OPTION_KEYS = ['value', 'label', 'description']

export const QUESTION_KEYS = {
  options: anyShape(
    {
      type: 'array',
      items: {
        anyOf: [
          { type: 'string', minLength: 1 },
          {
            type: 'object',
            properties: {
              value: { type: 'string', minLength: 1 },
              label: { type: 'string' },
              description: { type: 'string' },
            },
            required: ['value'],
            additionalProperties: false,
          },
        ],
      },
    },
    'The choices',
  ),
  schema: mapShape('The JSON Schema of the answer'),
  default: anyShape({}, 'The answer where nobody gives one in time'),
}

/** Parses the fields of a question. */
export function parseQuestion(given: RawStep, reader: DefinitionReader): QuestionFields {
  const { options } = given
  return compact({
    options: options === undefined ? undefined : parseOptions(options, reader.at('options')),
    // Texts of a schema are not interpolated.
    schema: parseObject(given, 'schema', reader.fork()),
    default: reader.field(given, 'default'),
  })
}

/** Parses an optional field that must be an object. */
export function parseObject(
  given: RawStep,
  key: string,
  reader: DefinitionReader,
): JsonObject | undefined {
  if (given[key] !== undefined && !isObject(given[key]))
    reader.addFieldProblem(key, `'${key}' must be an object`)
  return reader.field(given, key) as JsonObject | undefined
}

function parseOptions(options: unknown, reader: DefinitionReader): readonly InteractionOption[] {
  if (Array.isArray(options))
    return options.flatMap((option, index) => parseOption(option, reader.at(index)) ?? [])
  reader.addProblem(`'options' must be a list; got ${describeValue(options)}`)
  return []
}

function parseOption(given: unknown, reader: DefinitionReader): InteractionOption | undefined {
  const option = typeof given === 'string' ? { value: given } : given
  if (!isObject(option))
    return reader.addProblem(`an option must be a text or an object; got ${describeValue(given)}`)
  reader.checkKeys(option, OPTION_KEYS, 'an option')
  for (const key of OPTION_KEYS) {
    const isMissing = key === 'value' ? !option[key] : option[key] === undefined
    if (isMissing ? key === 'value' : typeof option[key] !== 'string')
      reader.addFieldProblem(
        key,
        `'${key}' of an option must be a text; got ${describeValue(option[key])}`,
      )
  }
  return reader.value(option) as InteractionOption
}

/** Asks the question of a step; the answer is the result of the step. */
export function* askQuestion(
  path: string,
  { frame, scope }: StepLocation,
  { options, schema, default: preset }: QuestionFields,
  about: Pick<WorkflowQuestion, 'action' | 'prompt'> & {
    readonly context?: JsonObject | undefined
    readonly timeout?: number | undefined
  },
): Flow<StepRecord> {
  const { action, prompt, context, timeout } = about
  const answer = yield* frame.runner.ask(
    path,
    compact({
      kind: options ? 'decision' : 'input',
      action,
      key: action,
      prompt,
      options: options?.map((option) => interpolateOption(option, scope)),
      schema,
      default: preset === undefined ? undefined : interpolate(preset, scope),
      context: context && (interpolate(context, scope) as JsonObject),
      timeout,
    }),
  )
  return createOkRecord(answer)
}

// Every part of a choice is a text.
function interpolateOption(option: InteractionOption, scope: ExpressionScope): InteractionOption {
  const parts = Object.entries(option).map(([key, text]) => [
    key,
    toInterpolatedText(interpolate(text, scope)),
  ])
  return Object.fromEntries(parts) as InteractionOption
}
