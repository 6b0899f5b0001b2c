/**
 * The keys that workflows and all steps have, with their types and descriptions, and the shapes
 * that step kinds describe their own keys with. Parsing and the published JSON Schema follow them.
 */

import type { ConfigShape } from '../../protocol/config-shape.ts'
import { toConfigSchema } from '../../protocol/config-shape.ts'
import type { JsonSchema } from '../../util/values.ts'

export type ConfigKeys = { readonly [key: string]: ConfigShape }

/** Names of workflows and steps. `finally` is the first part of the keys of the steps there. */
export const NAME_PATTERN = /^(?!(?:__proto__|finally)$)[A-Za-z0-9_-]{1,64}$/
export const MAX_RETRIES = 1000

/** Any value; only editors check it against the schema. */
export function anyShape(schema: JsonSchema, description: string): ConfigShape {
  return { is: 'anything', schema: { ...schema, description } }
}

export function textShape(description: string, schema: JsonSchema = {}): ConfigShape {
  return { is: 'text', schema: { ...schema, description } }
}

export function durationShape(description: string): ConfigShape {
  return anyShape(
    { type: ['number', 'string'], minimum: 0 },
    `${description}: seconds, or 500ms, 30s, 10m, 1h30m, 7d`,
  )
}

/** An object of any contents, such as a JSON Schema. */
export function mapShape(description: string): ConfigShape {
  return { is: 'map', of: { is: 'anything' }, schema: { description } }
}

const STEP_REF = { $ref: '#/$defs/step' }

export function stepsShape(description: string, schema: JsonSchema = {}): ConfigShape {
  return anyShape({ type: 'array', items: STEP_REF, ...schema }, description)
}

/** The JSON Schema of an object with these keys only. */
export function toObjectSchema(keys: ConfigKeys, required: readonly string[] = []): JsonSchema {
  return toConfigSchema({ is: 'object', keys, required })
}

/** The keys of `retry`. */
export const RETRY_KEYS: ConfigKeys = {
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

/** The keys that every step may have. */
export const COMMON_STEP_KEYS: ConfigKeys = {
  type: textShape('The kind of step; may be left out where another key says it'),
  name: textShape('A name that no other step has', { pattern: NAME_PATTERN.source }),
  when: anyShape(
    { type: ['string', 'boolean'] },
    'The step is taken only where this expression is true',
  ),
  retry: anyShape(
    { anyOf: [RETRY_KEYS['max']!.schema!, toObjectSchema(RETRY_KEYS)] },
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

/** The keys of a workflow. */
export const WORKFLOW_KEYS: ConfigKeys = {
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
