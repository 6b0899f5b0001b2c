import { closest } from '../../contract/did-you-mean.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { eachSubschema, ownKeyword } from './subschemas.ts'
import { formatPath } from './value-path.ts'
import type { Path } from './value-path.ts'

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']

/** Throws CONFIG for what cannot be right in plain JSON Schema: misspelt types, patterns that do not compile, keywords of the wrong form, circles. */
export function refuseMistakes(schema: JsonSchema): void {
  visit(schema, [], new Set())
}

function visit(schema: JsonSchema, path: Path, ancestors: Set<unknown>): void {
  if (ancestors.has(schema)) throw mistake(path, 'contains itself; use $ref for recursive types')
  ancestors.add(schema)
  checkTypes(schema, path)
  checkForms(schema, path)
  for (const pattern of patternsOf(schema)) {
    try {
      new RegExp(pattern, 'u')
    } catch (error) {
      throw mistake(
        path,
        `has the pattern ${pattern}, which does not compile: ${(error as Error).message}`,
      )
    }
  }
  eachSubschema(schema, (subschema, keyword) => {
    if (typeof subschema !== 'boolean') visit(subschema, [...path, keyword], ancestors)
  })
  ancestors.delete(schema)
}

function checkTypes(schema: JsonSchema, path: Path): void {
  const type = ownKeyword(schema, 'type')
  if (type === undefined) return
  for (const name of Array.isArray(type) ? type : [type]) {
    if (TYPES.includes(name as string)) continue
    const meant = typeof name === 'string' ? closest(name, TYPES) : undefined
    throw mistake(
      path,
      `has the type ${JSON.stringify(name)}; ${meant === undefined ? `types are ${TYPES.join(', ')}` : `did you mean '${meant}'?`}`,
    )
  }
}

function checkForms(schema: JsonSchema, path: Path): void {
  for (const keyword of [
    'properties',
    'patternProperties',
    '$defs',
    'definitions',
    'dependentSchemas',
  ]) {
    const value = ownKeyword(schema, keyword)
    if (value === undefined) continue
    if (!isObject(value)) throw mistake(path, `has '${keyword}' that is not an object`)
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'boolean' && !isObject(member))
        throw mistake([...path, keyword, key], 'is not a schema')
    }
  }
  for (const keyword of ['required', 'enum', 'allOf', 'anyOf', 'oneOf', 'prefixItems']) {
    const value = ownKeyword(schema, keyword)
    if (value !== undefined && !Array.isArray(value))
      throw mistake(path, `has '${keyword}' that is not a list`)
  }
}

function patternsOf(schema: JsonSchema): string[] {
  const pattern = ownKeyword(schema, 'pattern')
  const patterned = ownKeyword(schema, 'patternProperties')
  return [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isObject(patterned) ? Object.keys(patterned) : []),
  ]
}

function mistake(path: Path, problem: string): ToolError {
  return new ToolError(
    'CONFIG',
    `the schema${path.length === 0 ? '' : ` at ${formatPath(path)}`} ${problem}`,
  )
}
