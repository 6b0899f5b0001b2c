import { closest } from '../../contract/did-you-mean.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { OPEN } from '../expressions/parse-template.ts'
import type { Finding } from './finding.ts'
import { findUnknownField } from './input-fields.ts'
import { sourceOfStep } from './source-of-step.ts'
import type { StepSource } from './source-of-step.ts'
import type { Walked } from './walk-steps.ts'

type Fields = { readonly [field: string]: unknown }

/** What is known to be wrong with the input of a step before anything begins; `whose` takes it, by this schema. Values that come from expressions are left open. */
export async function checkStepInput(
  walked: Walked,
  input: unknown,
  schema: JsonSchema,
  whose: string,
): Promise<readonly Finding[]> {
  if (!isOpen(input)) return checkWhole(walked, input, schema)
  return isObject(input)
    ? [
        ...findUnknown(walked, input, schema, whose),
        ...findMissing(walked, input, schema, whose),
        ...(await checkClosed(walked, input, schema)),
      ]
    : []
}

/** A finding about a part of a step, at the place where the step was written. */
export function findingAt(
  { step, path }: Walked,
  keys: readonly (string | number)[],
  message: string,
  fix?: string,
): Finding {
  const place: StepSource = sourceOfStep(step) ?? { source: {}, path }
  return {
    source: place.source,
    path: place.bare ? place.path : [...place.path, ...keys],
    message,
    ...(fix !== undefined && { fix }),
  }
}

function isOpen(value: unknown): boolean {
  return JSON.stringify(value).includes(OPEN)
}

function findUnknown(
  walked: Walked,
  input: Fields,
  schema: JsonSchema,
  whose: string,
): readonly Finding[] {
  return Object.keys(input).flatMap((field) => {
    const known = findUnknownField(schema, field)
    const meant =
      known &&
      closest(
        field,
        known.filter((one) => !Object.hasOwn(input, one)),
      )
    return known
      ? [
          findingAt(
            walked,
            ['input', field],
            `'${whose}' has no field '${shorten(field, 60)}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
            `Its fields are ${known.join(', ')}`,
          ),
        ]
      : []
  })
}

function findMissing(
  walked: Walked,
  input: Fields,
  schema: JsonSchema,
  whose: string,
): readonly Finding[] {
  const required = Array.isArray(schema['required'])
    ? (schema['required'] as readonly string[])
    : []
  return required
    .filter((field) => !Object.hasOwn(input, field) && !hasDefault(schema, field))
    .map((field) => findingAt(walked, ['input'], `'${whose}' needs '${field}'`, `Add ${field}`))
}

function hasDefault({ properties }: JsonSchema, field: string): boolean {
  const found: unknown =
    isObject(properties) && Object.hasOwn(properties, field) ? properties[field] : undefined
  return isObject(found) && Object.hasOwn(found, 'default')
}

// What `properties` says of a field holds whatever the others are; the rest of a schema may depend on what is not known yet.
async function checkClosed(
  walked: Walked,
  input: Fields,
  schema: JsonSchema,
): Promise<readonly Finding[]> {
  const closed = Object.entries(input).filter(([, value]) => !isOpen(value))
  const kept = ['$schema', '$defs', 'definitions', 'properties']
    .filter((key) => Object.hasOwn(schema, key))
    .map((key) => [key, schema[key]])
  return closed.length === 0
    ? []
    : checkWhole(walked, Object.fromEntries(closed), {
        ...Object.fromEntries(kept),
        type: 'object',
        additionalProperties: true,
      })
}

async function checkWhole(
  walked: Walked,
  input: unknown,
  schema: JsonSchema,
): Promise<readonly Finding[]> {
  const [{ compileSchema }, { describeIssues }] = await Promise.all([
    import('../../define/schema/compile.ts'),
    import('../../define/schema/issues.ts'),
  ])
  const checked = await compileSchema(schema, 'input').check(input)
  return checked.ok
    ? []
    : checked.issues.map((issue) =>
        findingAt(
          walked,
          ['input', ...issue.path.map((key) => (typeof key === 'number' ? key : String(key)))],
          describeIssues([issue]),
        ),
      )
}
