import { schemaOfShape } from '../../contract/documents/schema-of-shape.ts'
import type { Shape } from '../../contract/documents/shape.ts'
import type { JsonSchema } from '../../contract/json.ts'
import type { StepType } from './workflow-type.ts'

/** What names of workflows and steps are made of. `finally` begins the keys of the steps there. */
export const NAME = /^(?!(?:__proto__|finally)$)[A-Za-z0-9_-]{1,64}$/
/** What items can be called, so that expressions can name them. */
export const ITEM_NAME =
  /^(?!(?:__proto__|input|steps|workflow|true|false|null)$)[A-Za-z_][A-Za-z0-9_]{0,63}$/
/** The most that may happen at the same time. */
export const MOST_CONCURRENT = 1000
/** The most tries after the first. */
export const MOST_RETRIES = 1000

const about = (shape: Shape, description: string, more: JsonSchema = {}): Shape => ({
  ...shape,
  schema: { ...shape.schema, ...more, description },
})
const any = (schema: JsonSchema, description: string): Shape => ({
  is: 'anything',
  schema: { ...schema, description },
})
const text = (description: string, more: JsonSchema = {}): Shape =>
  about({ is: 'text' }, description, more)
const duration = (description: string): Shape =>
  any(
    { type: ['number', 'string'], minimum: 0 },
    `${description}: seconds, or 500ms, 30s, 10m, 1h30m, 7d`,
  )
const STEP = { $ref: '#/$defs/step' }
const steps = (description: string, more: JsonSchema = {}): Shape =>
  any({ type: 'array', items: STEP, ...more }, description)
const concurrency = any(
  { type: 'integer', minimum: 1, maximum: MOST_CONCURRENT, default: 4 },
  'How many at the same time',
)
const schema = (description: string): Shape =>
  about({ is: 'map', of: { is: 'anything' } }, description)
const options = any(
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
export const ANSWER_KEYS: { readonly [key: string]: Shape } = {
  prompt: text('What is asked'),
  schema: schema('The JSON Schema of the answer'),
  options,
  default: any({}, 'The answer where nobody gives one in time'),
}

const ITEM_KEYS: { readonly [key: string]: Shape } = {
  items: any({ type: ['string', 'array'] }, 'The list: an expression, or the items themselves'),
  as: text('What an item is called inside; its position is <name>_index', {
    pattern: ITEM_NAME.source,
    default: 'item',
  }),
  do: steps('What is done with each', { minItems: 1 }),
}

const closed = (keys: { readonly [key: string]: Shape }, required: readonly string[]): JsonSchema =>
  schemaOfShape({ is: 'object', keys, required })
const answer = any(
  { anyOf: [{ type: 'string', minLength: 1 }, closed(ANSWER_KEYS, ['prompt'])] },
  'A question to wait for',
)

/** What `wait` may hold, one of them. */
export const WAIT_KEYS: { readonly [key: string]: Shape } = {
  for: duration('How long'),
  until: text('Until when: a date and time with its zone, or an expression'),
  answer,
}

/** The keys of `retry`. */
export const RETRY_KEYS: { readonly [key: string]: Shape } = {
  max: any({ type: 'integer', minimum: 0, maximum: MOST_RETRIES }, 'Tries after the first'),
  delay: duration('The pause before the second try'),
  factor: any(
    { type: 'number', minimum: 1, maximum: 100 },
    'How much longer each pause is than the one before',
  ),
  longest: duration('The longest pause'),
  on: any(
    {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', items: { type: 'string', minLength: 1 } },
      ],
    },
    'Codes and classes of errors that are tried again; without it every failure is, but those of the input and of permissions',
  ),
}

/** What a step of a kind may say. A kind that can be written in several ways has a form for each. */
export type StepForm = {
  readonly type: StepType
  /** The key that tells this form from others. */
  readonly mark: string
  /** The mark alone says the kind. */
  readonly implied?: true
  readonly keys: { readonly [key: string]: Shape }
  readonly required: readonly string[]
}

/** The keys that every step may have. */
export const BASE_KEYS: { readonly [key: string]: Shape } = {
  type: text('The kind of step; may be left out where another key says it'),
  name: text('A name that no other step has', { pattern: NAME.source }),
  when: any(
    { type: ['string', 'boolean'] },
    'The step is taken only where this expression is true',
  ),
  retry: any(
    { anyOf: [RETRY_KEYS['max']!.schema!, closed(RETRY_KEYS, [])] },
    'How often it is tried again, whatever failed but its input or its permissions; default: 3 times, for errors that may pass by themselves',
  ),
  timeout: duration(
    'Time for one try of a tool, for all of a step that holds others, for a wait, or for an answer',
  ),
  on_error: text('stop: its failure ends the workflow; continue: its result is null', {
    enum: ['stop', 'continue'],
    default: 'stop',
  }),
  compensate: any(
    { anyOf: [STEP, { type: 'array', items: STEP }] },
    'What takes back what it did, when the workflow fails later',
  ),
}

const permissions = any({ type: 'object' }, 'What the tool may do, less than its manifest allows')
const form = (
  type: StepType,
  mark: string,
  keys: StepForm['keys'],
  required: readonly string[] = [mark],
): StepForm => ({
  type,
  mark,
  keys,
  required,
  ...(!required.includes('type') && { implied: true }),
})

/** Every way to write a step: the reader and the published schema both follow this table. */
export const STEP_FORMS: readonly StepForm[] = [
  form('tool', 'command', {
    command: text('The tool and its arguments as they are typed'),
    permissions,
  }),
  form('tool', 'tool', {
    tool: text('The name of the tool'),
    input: schema('Its input'),
    permissions,
  }),
  form('ai_decision', 'decision_type', {
    decision_type: text('What is to be decided, as a word'),
    instruction: text('What whoever decides has to know'),
    options,
    schema: ANSWER_KEYS['schema']!,
    default: ANSWER_KEYS['default']!,
    context: schema('Facts for whoever decides'),
  }),
  form('parallel', 'tasks', {
    tasks: steps('What is done at the same time'),
    max_concurrency: concurrency,
  }),
  form('each', 'each', {
    each: about(
      { is: 'object', keys: ITEM_KEYS, required: ['items', 'do'] },
      'The list, and what is done with each of its items',
    ),
    max_concurrency: concurrency,
  }),
  form('each', 'items', { ...ITEM_KEYS, max_concurrency: concurrency }, ['items', 'do']),
  form('wait', 'wait', {
    wait: any(
      {
        anyOf: [
          { type: ['number', 'string'], minimum: 0 },
          { ...closed(WAIT_KEYS, []), minProperties: 1, maxProperties: 1 },
        ],
      },
      'How long, until when, or for which answer',
    ),
  }),
  ...Object.entries(WAIT_KEYS).map(([key, shape]) =>
    form('wait', key, { [key]: shape }, ['type', key]),
  ),
  form('workflow', 'workflow', {
    workflow: any(
      { anyOf: [{ type: 'string', minLength: 1 }, { $ref: '#' }] },
      'Another workflow: its file, or the workflow itself',
    ),
    input: any({}, 'Its input'),
  }),
]

/** The keys of a workflow. */
export const WORKFLOW_KEYS: { readonly [key: string]: Shape } = {
  $schema: text('For editors'),
  name: text('Its name; default: that of the file', { pattern: NAME.source }),
  version: text('Its version'),
  summary: text('What it does, in one sentence', { maxLength: 200 }),
  description: text('What it does, at length'),
  input: any(
    { type: 'object' },
    'The JSON Schema of its input, or its fields in short: {root: string, limit: integer?}',
  ),
  steps: steps('What is done, in this order', { minItems: 1 }),
  finally: steps('What is done at the end, however it ended'),
  output: any({}, 'What it gives; default: the result of its last step'),
  timeout: duration('Time for all of it'),
}
