import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { shorten } from '../../contract/shorten.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { inlineRefs } from '../../define/schema/inline-refs.ts'
import { indexRefs, refOf } from '../../define/schema/refs.ts'
import { eachSubschema, mapSubschemas } from '../../define/schema/subschemas.ts'
import { boundedCopy } from './bounded-copy.ts'
import type { OnNote } from './tame-keywords.ts'
import { tameNode } from './tame-node.ts'
import type { TamedNode } from './tame-node.ts'

/** Lets every object through. */
export const ANYTHING: JsonSchema = { type: 'object', additionalProperties: true }

const OPENERS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties']

/** The input schema of somebody else's tool, made usable: an object without references, of bounded size, which surely compiles. What nobody can use is left open, with a note. */
export function tameInput(given: unknown, note: OnNote): JsonSchema {
  if (given === undefined || given === true) return ANYTHING
  const whole = selfContained(given, note)
  const tamed = whole && tameNode(asObject(whole, note), note)
  if (!isObject(tamed)) {
    note('the input schema describes no object, so any object is let through')
    return ANYTHING
  }
  return compiles(objectRoot(tamed, note), 'input', note) ?? ANYTHING
}

/** The output schema of somebody else's tool; undefined where there is nothing to hold a result to. Objects are open unless their owner closed them: results are not ours to refuse. */
export function tameOutput(given: unknown, note: OnNote): JsonSchema | undefined {
  if (given === undefined) return undefined
  const whole = selfContained(given, note)
  const tamed = whole && tameNode(whole, note)
  if (!isObject(tamed) || Object.keys(tamed).length === 0) return undefined
  return compiles(openObjects(tamed) as JsonSchema, 'output', note)
}

function selfContained(given: unknown, note: OnNote): JsonSchema | undefined {
  const { copy, cut } = boundedCopy(parsed(given))
  if (cut)
    note(
      `the schema is ${cut}${cut === 'too large' ? ', so it is neither shown nor checked' : ', and what lies deeper was left open'}`,
    )
  if (!isObject(copy)) return undefined
  // Half of it would refuse what the other half allows.
  if (cut === 'too large')
    return {
      ...ANYTHING,
      description: [copy['description'], 'Takes more fields than can be shown.']
        .filter((text) => typeof text === 'string')
        .join(' '),
    }
  const refs = indexRefs(copy)
  let hasRefs = false
  const visit = (schema: JsonSchema): void => {
    const reference = refOf(schema)
    hasRefs ||= reference !== undefined
    if (reference !== undefined && refs.follow(schema) === undefined)
      note(
        `the schema refers to '${shorten(reference, 200)}', which is not in it and is never fetched; that part was left open`,
      )
    eachSubschema(schema, (subschema) => typeof subschema === 'boolean' || visit(subschema))
  }
  visit(copy)
  return hasRefs ? inlineRefs(copy, refs) : copy
}

// Some send the schema as text.
function parsed(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return JSON.parse(given) as unknown
  } catch {
    return undefined
  }
}

// `{city: {type: 'string'}}`: the fields without the object around them.
function asObject(schema: JsonSchema, note: OnNote): JsonSchema {
  const members = Object.entries(schema)
  const isBare =
    members.length > 0 &&
    members.every(
      ([key, member]) =>
        !KEYWORDS.has(key) && isObject(member) && ('type' in member || 'description' in member),
    )
  if (!isBare) return schema
  note('the input schema lists fields without an object around them')
  return { type: 'object', properties: schema }
}

const KEYWORDS = new Set([
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

function objectRoot(given: JsonSchema, note: OnNote): JsonSchema {
  const { type, enum: values, const: value, ...rest } = given
  const schema: { [keyword: string]: unknown } = rest
  const types = Array.isArray(type) ? (type as unknown[]) : type === undefined ? ['object'] : [type]
  if (!types.includes('object')) {
    note(
      `the input schema describes ${types.join(' or ')}, not an object, so any object is let through`,
    )
    return typeof schema['description'] === 'string'
      ? { ...ANYTHING, description: schema['description'] }
      : ANYTHING
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
  // An object of which nothing is said takes anything.
  const isSilent = !['properties', 'required', 'allOf', 'anyOf', 'oneOf', 'if', ...OPENERS].some(
    (keyword) => Object.hasOwn(schema, keyword),
  )
  return { type: 'object', ...schema, ...(isSilent && { additionalProperties: true }) }
}

function mayBeObject(branch: unknown): boolean {
  if (!isObject(branch)) return branch === true
  const { type } = branch
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'))
}

function openObjects(node: TamedNode): TamedNode {
  if (typeof node === 'boolean') return node
  const opened = mapSubschemas(node, (subschema) => openObjects(subschema))
  return Object.hasOwn(opened, 'properties') &&
    !OPENERS.some((keyword) => Object.hasOwn(opened, keyword))
    ? { ...opened, additionalProperties: true }
    : opened
}

// The last word has what will use the schema.
function compiles(
  schema: JsonSchema,
  direction: 'input' | 'output',
  note: OnNote,
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
