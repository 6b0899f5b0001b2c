/**
 * Makes a foreign schema usable: bounded, without references, an object at its root, and certain to
 * compile.
 */

import { compileSchema } from '../../define/schema/compile.ts'
import { inlineRefs } from '../../define/schema/publish.ts'
import { createRefs, getRef } from '../../define/schema/refs.ts'
import { forEachSubschema, mapSubschemas } from '../../define/schema/subschemas.ts'
import { shorten } from '../../util/text.ts'
import type { JsonSchema } from '../../util/values.ts'
import { asText, compact, isObject, tryParseJson } from '../../util/values.ts'
import type { NoteListener, SanitizedNode } from './sanitize-node.ts'
import { sanitizeNode } from './sanitize-node.ts'

/** Lets every object through. */
const ANY_OBJECT_SCHEMA: JsonSchema = { type: 'object', additionalProperties: true }

const OPEN_OBJECT_KEYWORDS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']

/**
 * Makes the input schema of a foreign tool usable: an object without references, of bounded size,
 * that compiles. What cannot be used is left open, with a note.
 */
export function sanitizeInputSchema(given: unknown, note: NoteListener): JsonSchema {
  if (given === undefined || given === true) return ANY_OBJECT_SCHEMA
  const whole = toSelfContained(given, note)
  const tamed = whole && sanitizeNode(wrapBareFields(whole, note), note)
  if (!isObject(tamed)) {
    note('the input schema describes no object, so any object is let through')
    return ANY_OBJECT_SCHEMA
  }
  return requireCompilable(toObjectRoot(tamed, note), 'input', note) ?? ANY_OBJECT_SCHEMA
}

/**
 * Makes the output schema of a foreign tool usable. Undefined when there is nothing to check a
 * result against. Objects are open unless their owner closed them: foreign results are not
 * refused.
 */
export function sanitizeOutputSchema(given: unknown, note: NoteListener): JsonSchema | undefined {
  if (given === undefined) return undefined
  const whole = toSelfContained(given, note)
  const tamed = whole && sanitizeNode(whole, note)
  if (!isObject(tamed) || Object.keys(tamed).length === 0) return undefined
  return requireCompilable(openObjects(tamed) as JsonSchema, 'output', note)
}

function toSelfContained(given: unknown, note: NoteListener): JsonSchema | undefined {
  // Some send the schema as text.
  const { copy, cut } = copyBounded(typeof given === 'string' ? tryParseJson(given) : given)
  if (cut)
    note(
      `the schema is ${cut}${cut === 'too large' ? ', so it is neither shown nor checked' : ', and what lies deeper was left open'}`,
    )
  if (!isObject(copy)) return undefined
  // Half a schema would refuse what the other half allows.
  if (cut === 'too large')
    return {
      ...ANY_OBJECT_SCHEMA,
      description: [copy['description'], 'Takes more fields than can be shown.']
        .filter((text) => typeof text === 'string')
        .join(' '),
    }
  const refs = createRefs(copy)
  let hasRefs = false
  const visit = (schema: JsonSchema): void => {
    const reference = getRef(schema)
    hasRefs ||= reference !== undefined
    if (reference !== undefined && refs.follow(schema) === undefined)
      note(
        `the schema refers to '${shorten(reference, 200)}', which is not in it and is never fetched; that part was left open`,
      )
    forEachSubschema(schema, (subschema) => typeof subschema === 'boolean' || visit(subschema))
  }
  visit(copy)
  return hasRefs ? inlineRefs(copy, refs) : copy
}

// `{city: {type: 'string'}}`: the fields without the object around them.
function wrapBareFields(schema: JsonSchema, note: NoteListener): JsonSchema {
  const members = Object.entries(schema)
  const isBare =
    members.length > 0 &&
    members.every(
      ([key, member]) =>
        !OBJECT_KEYWORDS.has(key) &&
        isObject(member) &&
        ('type' in member || 'description' in member),
    )
  if (!isBare) return schema
  note('the input schema lists fields without an object around them')
  return { type: 'object', properties: schema }
}

const OBJECT_KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'items',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
  'propertyNames',
])

function toObjectRoot(given: JsonSchema, note: NoteListener): JsonSchema {
  const { type, enum: values, const: value, ...rest } = given
  const schema: { [keyword: string]: unknown } = rest
  const types = [type ?? 'object'].flat()
  if (!types.includes('object')) {
    note(
      `the input schema describes ${types.join(' or ')}, not an object, so any object is let through`,
    )
    return compact({ ...ANY_OBJECT_SCHEMA, description: asText(schema['description']) })
  }
  if (values !== undefined || value !== undefined)
    note('the input schema lists whole inputs, which are not checked')
  for (const union of ['anyOf', 'oneOf']) {
    const branches = schema[union]
    if (!Array.isArray(branches)) continue
    const objects = branches.filter(mayBeObject)
    if (objects.length > 0) schema[union] = objects
    else delete schema[union]
  }
  // An object without any keyword accepts anything.
  const isSilent = ![
    'properties',
    'required',
    'allOf',
    'anyOf',
    'oneOf',
    'if',
    ...OPEN_OBJECT_KEYWORDS,
  ].some((keyword) => Object.hasOwn(schema, keyword))
  return { type: 'object', ...schema, ...compact({ additionalProperties: isSilent || undefined }) }
}

function mayBeObject(branch: unknown): boolean {
  if (!isObject(branch)) return branch === true
  return [branch['type'] ?? 'object'].flat().includes('object')
}

function openObjects(node: SanitizedNode): SanitizedNode {
  if (typeof node === 'boolean') return node
  const opened = mapSubschemas(node, (subschema) => openObjects(subschema))
  return Object.hasOwn(opened, 'properties') &&
    !OPEN_OBJECT_KEYWORDS.some((keyword) => Object.hasOwn(opened, keyword))
    ? { ...opened, additionalProperties: true }
    : opened
}

// The compiler that will use the schema decides.
function requireCompilable(
  schema: JsonSchema,
  direction: 'input' | 'output',
  note: NoteListener,
): JsonSchema | undefined {
  try {
    void compileSchema(schema, direction).json
    return schema
  } catch (error) {
    note(
      `the ${direction} schema cannot be used (${shorten((error as Error).message, 200)}), so it is not checked`,
    )
    return undefined
  }
}

const MAX_COPY_DEPTH = 40
const MAX_COPY_VALUES = 20_000
const MAX_COPY_CHARACTERS = 1_000_000

/** Why a copy is incomplete. */
type CopyCut = 'too deep' | 'too large' | undefined

/**
 * Copies an untrusted JSON value within bounds: circles, shared parts that multiply, depth and
 * size are all cut off.
 */
function copyBounded(value: unknown): { readonly copy: unknown; readonly cut: CopyCut } {
  const work: CopyBudget = { values: 0, characters: 0, cut: undefined }
  return { copy: copyValue(work, value, 0), cut: work.cut }
}

type CopyBudget = { values: number; characters: number; cut: CopyCut }

function copyValue(work: CopyBudget, value: unknown, depth: number): unknown {
  if (typeof value === 'string') {
    work.characters += value.length
    return value
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object') return undefined
  if (depth > MAX_COPY_DEPTH) {
    work.cut ??= 'too deep'
    return {}
  }
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value as unknown[])
      if (spendValue(work)) items.push(copyValue(work, item, depth + 1) ?? null)
    return items
  }
  if (!isObject(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function')
    return undefined
  const members: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    if (!spendValue(work)) break
    work.characters += key.length
    const copied = copyValue(work, member, depth + 1)
    if (copied !== undefined) members.push([key, copied])
  }
  return Object.fromEntries(members)
}

function spendValue(work: CopyBudget): boolean {
  work.values += 1
  if (work.values <= MAX_COPY_VALUES && work.characters <= MAX_COPY_CHARACTERS) return true
  work.cut = 'too large'
  return false
}
