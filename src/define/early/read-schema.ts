import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { readPrepared } from '../../contract/prepared.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { readSource, WHAT_TO_GIVE } from '../schema/source.ts'
import { libraryOptionsOf } from '../schema/vendors.ts'

/** The JSON Schema of an input as far as it can be had at once; undefined where only compiling it can tell. Throws CONFIG for what is no schema of an object. */
export function readEarly(source: unknown): JsonSchema | undefined {
  const schema = readPrepared(source)?.json ?? writeEarly(source)
  if (schema && typeof schema['type'] === 'string' && schema['type'] !== 'object')
    throw new ToolError('CONFIG', 'the input schema must describe an object', {
      suggestion: WHAT_TO_GIVE,
    })
  return schema &&
    isObject(schema['properties']) &&
    !COMPOSED.some((keyword) => keyword in schema) &&
    !refers(schema)
    ? schema
    : undefined
}

/** The JSON Schema of an input as its author or its library writes it; undefined where the library cannot. */
export function writeEarly(source: unknown): JsonSchema | undefined {
  const read = readSource(source)
  return 'plain' in read
    ? read.plain
    : attempt(() => {
        const { vendor, jsonSchema } = read.standard['~standard']
        const libraryOptions = libraryOptionsOf(vendor)
        return jsonSchema.input({
          target: 'draft-2020-12',
          ...(libraryOptions && { libraryOptions }),
        })
      })
}

const COMPOSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', '$dynamicRef']

function refers(schema: JsonSchema): boolean {
  try {
    return /"\$(ref|dynamicRef)"/.test(JSON.stringify(schema))
  } catch {
    return true
  }
}

// What a library cannot say here is told, with its reason, when the schema is compiled.
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
