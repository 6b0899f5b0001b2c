/**
 * The keys of workflows and steps, with their types and descriptions. Parsing and the published
 * JSON Schema both follow these tables.
 */

import { toConfigSchema } from '../../protocol/config-schema.ts'
import type { ConfigShape } from '../../protocol/config-shape.ts'
import type { JsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { StepType } from './model.ts'

/** What names of workflows and steps are made of. `finally` begins the keys of the steps there. */
export const NAME_PATTERN = /^(?!(?:__proto__|finally)$)[A-Za-z0-9_-]{1,64}$/
/** What items can be called, so that expressions can name them. */
export const ITEM_NAME_PATTERN =
  /^(?!(?:__proto__|input|steps|workflow|true|false|null)$)[A-Za-z_][A-Za-z0-9_]{0,63}$/
/** The most that may happen at the same time. */
export const MAX_CONCURRENCY = 1000
/** The most tries after the first. */
export const MAX_RETRIES = 1000

const withDescription = (
  shape: ConfigShape,
  description: string,
  more: JsonSchema = {},
): ConfigShape => ({ ...shape, schema: { ...shape.schema, ...more, description } })
const anyShape = (schema: JsonSchema, description: string): ConfigShape => ({
  is: 'anything',
  schema: { ...schema, description },
})
const textShape = (description: string, more: JsonSchema = {}): ConfigShape =>
  withDescription({ is: 'text' }, description, more)
const durationShape = (description: string): ConfigShape =>
  anyShape(
    { type: ['number', 'string'], minimum: 0 },
    `${description}: seconds, or 500ms, 30s, 10m, 1h30m, 7d`,
  )
const STEP_REF = { $ref: '#/$defs/step' }
const stepsShape = (description: string, more: JsonSchema = {}): ConfigShape =>
  anyShape({ type: 'array', items: STEP_REF, ...more }, description)
const CONCURRENCY_SHAPE = anyShape(
  { type: 'integer', minimum: 1, maximum: MAX_CONCURRENCY, default: 4 },
  'How many at the same time',
)
const schemaShape = (description: string): ConfigShape =>
  withDescription({ is: 'map', of: { is: 'anything' } }, description)
const OPTIONS_SHAPE = anyShape(
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
)

/** What an answer may be asked for with. */
export const ANSWER_KEYS: { readonly [key: string]: ConfigShape } = {
  prompt: textShape('What is asked'),
  schema: schemaShape('The JSON Schema of the answer'),
  options: OPTIONS_SHAPE,
  default: anyShape({}, 'The answer where nobody gives one in time'),
}

const ITEM_KEYS: { readonly [key: string]: ConfigShape } = {
  items: anyShape(
    { type: ['string', 'array'] },
    'The list: an expression, or the items themselves',
  ),
  as: textShape('What an item is called inside; its position is <name>_index', {
    pattern: ITEM_NAME_PATTERN.source,
    default: 'item',
  }),
  do: stepsShape('What is done with each', { minItems: 1 }),
}

const toClosedSchema = (
  keys: { readonly [key: string]: ConfigShape },
  required: readonly string[],
): JsonSchema => toConfigSchema({ is: 'object', keys, required })
const ANSWER_SHAPE = anyShape(
  { anyOf: [{ type: 'string', minLength: 1 }, toClosedSchema(ANSWER_KEYS, ['prompt'])] },
  'A question to wait for',
)

/** What `wait` may hold, one of them. */
export const WAIT_KEYS: { readonly [key: string]: ConfigShape } = {
  for: durationShape('How long'),
  until: textShape('Until when: a date and time with its zone, or an expression'),
  answer: ANSWER_SHAPE,
}

/** The keys of `retry`. */
export const RETRY_KEYS: { readonly [key: string]: ConfigShape } = {
  max: anyShape({ type: 'integer', minimum: 0, maximum: MAX_RETRIES }, 'Tries after the first'),
  delay: durationShape('The pause before the second try'),
  factor: anyShape(
    { type: 'number', minimum: 1, maximum: 100 },
    'How much longer each pause is than the one before',
  ),
  longest: durationShape('The longest pause'),
  on: anyShape(
    {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', items: { type: 'string', minLength: 1 } },
      ],
    },
    'Codes and classes of errors that are tried again; without it every failure is, but those of the input and of permissions',
  ),
}

/**
 * What a step of a kind may say. A kind that can be written in several ways has a form for each.
 */
export type StepForm = {
  readonly type: StepType
  /** The key that tells this form from others. */
  readonly mark: string
  /** The mark alone says the kind. */
  readonly implied?: true
  readonly keys: { readonly [key: string]: ConfigShape }
  readonly required: readonly string[]
}

/** The keys that every step may have. */
export const COMMON_STEP_KEYS: { readonly [key: string]: ConfigShape } = {
  type: textShape('The kind of step; may be left out where another key says it'),
  name: textShape('A name that no other step has', { pattern: NAME_PATTERN.source }),
  when: anyShape(
    { type: ['string', 'boolean'] },
    'The step is taken only where this expression is true',
  ),
  retry: anyShape(
    { anyOf: [RETRY_KEYS['max']!.schema!, toClosedSchema(RETRY_KEYS, [])] },
    'How often it is tried again, whatever failed but its input or its permissions; default: 3 times, for errors that may pass by themselves',
  ),
  timeout: durationShape(
    'Time for one try of a tool, for all of a step that holds others, for a wait, or for an answer',
  ),
  on_error: textShape('stop: its failure ends the workflow; continue: its result is null', {
    enum: ['stop', 'continue'],
    default: 'stop',
  }),
  compensate: anyShape(
    { anyOf: [STEP_REF, { type: 'array', items: STEP_REF }] },
    'What takes back what it did, when the workflow fails later',
  ),
}

const STEP_PERMISSIONS_SHAPE = anyShape(
  { type: 'object' },
  'What the tool may do, less than its manifest allows',
)
const createStepForm = (
  type: StepType,
  mark: string,
  keys: StepForm['keys'],
  required: readonly string[] = [mark],
): StepForm =>
  compact({ type, mark, keys, required, implied: !required.includes('type') || undefined })

/** Every way to write a step: the reader and the published schema both follow this table. */
export const STEP_FORMS: readonly StepForm[] = [
  createStepForm('tool', 'command', {
    command: textShape('The tool and its arguments as they are typed'),
    permissions: STEP_PERMISSIONS_SHAPE,
  }),
  createStepForm('tool', 'tool', {
    tool: textShape('The name of the tool'),
    input: schemaShape('Its input'),
    permissions: STEP_PERMISSIONS_SHAPE,
  }),
  createStepForm('ai_decision', 'decision_type', {
    decision_type: textShape('What is to be decided, as a word'),
    instruction: textShape('What whoever decides has to know'),
    options: OPTIONS_SHAPE,
    schema: ANSWER_KEYS['schema']!,
    default: ANSWER_KEYS['default']!,
    context: schemaShape('Facts for whoever decides'),
  }),
  createStepForm('parallel', 'tasks', {
    tasks: stepsShape('What is done at the same time'),
    max_concurrency: CONCURRENCY_SHAPE,
  }),
  createStepForm('each', 'each', {
    each: withDescription(
      { is: 'object', keys: ITEM_KEYS, required: ['items', 'do'] },
      'The list, and what is done with each of its items',
    ),
    max_concurrency: CONCURRENCY_SHAPE,
  }),
  createStepForm('each', 'items', { ...ITEM_KEYS, max_concurrency: CONCURRENCY_SHAPE }, [
    'items',
    'do',
  ]),
  createStepForm('wait', 'wait', {
    wait: anyShape(
      {
        anyOf: [
          { type: ['number', 'string'], minimum: 0 },
          { ...toClosedSchema(WAIT_KEYS, []), minProperties: 1, maxProperties: 1 },
        ],
      },
      'How long, until when, or for which answer',
    ),
  }),
  ...Object.entries(WAIT_KEYS).map(([key, shape]) =>
    createStepForm('wait', key, { [key]: shape }, ['type', key]),
  ),
  createStepForm('workflow', 'workflow', {
    workflow: anyShape(
      { anyOf: [{ type: 'string', minLength: 1 }, { $ref: '#' }] },
      'Another workflow: its file, or the workflow itself',
    ),
    input: anyShape({}, 'Its input'),
  }),
]

/** The keys of a workflow. */
export const WORKFLOW_KEYS: { readonly [key: string]: ConfigShape } = {
  $schema: textShape('For editors'),
  name: textShape('Its name; default: that of the file', { pattern: NAME_PATTERN.source }),
  version: textShape('Its version'),
  summary: textShape('What it does, in one sentence', { maxLength: 200 }),
  description: textShape('What it does, at length'),
  input: anyShape(
    { type: 'object' },
    'The JSON Schema of its input, or its fields in short: {root: string, limit: integer?}',
  ),
  steps: stepsShape('What is done, in this order', { minItems: 1 }),
  finally: stepsShape('What is done at the end, however it ended'),
  output: anyShape({}, 'What it gives; default: the result of its last step'),
  timeout: durationShape('Time for all of it'),
}
