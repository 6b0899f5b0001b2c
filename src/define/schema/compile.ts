/**
 * Makes a schema ready for use: a schema of a library or plain JSON Schema becomes a `CompiledSchema` with the same few functions. The library or the validator decides whether a value fits; unknown keys, decoding and messages are ours.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ToolManifest } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema } from '../../util/values.ts'
import { checkFlags } from '../checks.ts'
import { toFlagSpecs } from '../flag-specs.ts'
import type { CompiledTool, ToolDefinition } from '../tool-types.ts'
import { createExplainer } from './explain.ts'
import type { PlainValidator } from './plain-validator.ts'
import {
  dropUndefined,
  findNonJson,
  hasRiskyPatterns,
  loadValidator,
  rejectSchemaMistakes,
  removeWrapperUnits,
} from './plain-validator.ts'
import {
  decodeValue,
  needsDecoding,
  publishSchema,
  tidySchema,
  upgradeKeywords,
} from './publish.ts'
import type { SchemaRefs } from './refs.ts'
import { checkRefs, createRefs } from './refs.ts'
import type {
  CompiledSchema,
  SchemaCheckResult,
  SchemaIssue,
  SchemaSource,
  StandardSchema,
} from './source.ts'
import {
  attributeSchemaError,
  classifySchema,
  getLibraryOptions,
  isCustomRule,
  isSchemaObject,
  resolveSchema,
  SCHEMA_ADVICE,
} from './source.ts'
import type { AnySchema } from './subschemas.ts'
import { describeFormatMismatch, getKeyword, getSchemaList, getTypes } from './subschemas.ts'
import type { LibraryIssue } from './unknown-keys.ts'
import { findUnknownKeys, toIssues } from './unknown-keys.ts'
import { alignPath, applyDefaults, getValueAt, hasDefaults, isPlainData } from './walk.ts'

/**
 * Compiles the schemas of a tool and checks what needs them. Throws CONFIG, naming the tool, with
 * what to change.
 */
export function compileTool({ name, metadata: facts, source }: ToolDefinition): CompiledTool {
  const input = attributeSchemaError(name, 'input', () =>
    compileSchema(resolveSchema(source.input), 'input'),
  )
  const output =
    source.output === undefined
      ? undefined
      : attributeSchemaError(name, 'output', () =>
          compileSchema(resolveSchema(source.output!), 'output'),
        )
  const manifest: ToolManifest = { ...facts, inputSchema: input.json }
  // Published when it is first read: a call does not need it.
  if (output)
    Object.defineProperty(manifest, 'outputSchema', { get: () => output.json, enumerable: true })
  checkFlags(manifest, toFlagSpecs(manifest))
  return { input, output, manifest }
}

/**
 * Makes a schema of any kind ready for use. Throws CONFIG, with the way out, for what is no usable
 * schema; an input has to be an object.
 */
export function compileSchema(source: SchemaSource, direction: 'input' | 'output'): CompiledSchema {
  const read = classifySchema(source)
  return 'standard' in read
    ? compileStandard(read.standard, direction)
    : compilePlain(read.plain, direction)
}

const NO_ISSUES: readonly SchemaIssue[] = []

/**
 * Makes a schema of a library ready for use. The library decides; our part is strictness about
 * keys, decoding of JSON and the words.
 */
function compileStandard(source: StandardSchema, direction: 'input' | 'output'): CompiledSchema {
  // What a check is given is the input of the library's schema in both directions; only what is
  // published differs.
  const accepted = readJsonSchema(source, 'input')
  const refs = createRefs(accepted)
  if (direction === 'input') requireObjectSchema(accepted, refs)
  const decodes = needsDecoding(accepted)
  const knows = createKeyCheck(accepted)
  const check = (value: unknown): SchemaCheckResult | Promise<SchemaCheckResult> => {
    // Before the library, which may change the value.
    const unknown = knows(value)
      ? NO_ISSUES
      : findUnknownKeys(createExplainer(refs), accepted, value)
    const result = source['~standard'].validate(
      decodes ? decodeValue(createExplainer(refs), accepted, value) : value,
    )
    return isPromise(result) ? finishLater(result, value, unknown) : finish(result, value, unknown)
  }
  const finishLater = async (
    result: PromiseLike<StandardSchemaV1.Result<unknown>>,
    value: unknown,
    unknown: readonly SchemaIssue[],
  ): Promise<SchemaCheckResult> => finish(await result, value, unknown)
  const finish = (
    result: StandardSchemaV1.Result<unknown>,
    value: unknown,
    unknown: readonly SchemaIssue[],
  ): SchemaCheckResult => {
    if (!result.issues)
      return unknown.length === 0
        ? { ok: true, value: result.value }
        : { ok: false, issues: unknown }
    return {
      ok: false,
      issues: toIssues(
        createExplainer(refs),
        accepted,
        value,
        unknown,
        result.issues.flatMap((issue) => readVendorIssue(issue, value, [])),
      ),
    }
  }
  let published: JsonSchema | undefined
  return {
    get json() {
      return (published ??= publishSchema(
        direction === 'input' ? accepted : readJsonSchema(source, 'output'),
        direction,
      ))
    },
    check: (value) => checkSafely(check, value),
  }
}

function readJsonSchema(source: StandardSchema, direction: 'input' | 'output'): JsonSchema {
  const { vendor, jsonSchema } = source['~standard']
  const libraryOptions = getLibraryOptions(vendor)
  let problem: unknown
  for (const target of ['draft-2020-12', 'draft-07']) {
    try {
      const json = jsonSchema[direction](libraryOptions ? { target, libraryOptions } : { target })
      return tidySchema(upgradeKeywords(json))
    } catch (error) {
      problem ??= error
    }
  }
  throw new ToolError(
    'CONFIG',
    `the ${vendor} schema cannot be written as JSON Schema: ${problem instanceof Error ? problem.message : String(problem)}`,
    { suggestion: 'Use types that JSON can carry', cause: problem },
  )
}

type VendorIssue = StandardSchemaV1.Issue & {
  readonly code?: unknown
  readonly format?: unknown
  readonly errors?: unknown
  readonly keys?: unknown
  readonly problem?: unknown
}

function readVendorIssue(
  issue: VendorIssue,
  value: unknown,
  above: readonly PropertyKey[],
): LibraryIssue[] {
  const keys = [
    ...above,
    ...(issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part)),
  ]
  const path = alignPath(keys, value)
  if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys))
    return issue.keys.map((key) => ({
      path: [...path, String(key)],
      message: 'is not a known key',
    }))
  if (issue.code === 'invalid_union' && Array.isArray(issue.errors) && issue.errors.length > 0) {
    const branches = issue.errors as (readonly VendorIssue[])[]
    // Only rules of authors are asked from the branches: the rest is explained at the place of the
    // union.
    const own = branches.filter((branch) => branch.length > 0 && branch.every(isCustomRule))
    if (own.length > 0) return own[0]!.flatMap((each) => readVendorIssue(each, value, keys))
  }
  if (
    issue.code === 'invalid_format' &&
    typeof issue.format === 'string' &&
    issue.format !== 'regex'
  )
    return [{ path, message: describeFormatMismatch(issue.format, getValueAt(value, path)) }]
  return [
    {
      path,
      message: typeof issue.problem === 'string' ? issue.problem : issue.message,
      isOwn: isCustomRule(issue),
    },
  ]
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T>).then === 'function'
}

/**
 * Makes plain JSON Schema ready for use: draft 2020-12, or an older one when `$schema` says so.
 * Throws CONFIG for schemas that cannot work.
 */
function compilePlain(source: JsonSchema, direction: 'input' | 'output'): CompiledSchema {
  rejectSchemaMistakes(source)
  const schema = upgradeKeywords(source)
  const refs = createRefs(schema)
  checkRefs(schema, refs)
  if (direction === 'input') requireObjectSchema(schema, refs)
  let published: JsonSchema | undefined
  let ready: ReadyValidator | undefined
  return {
    get json() {
      return (published ??= publishSchema(schema, direction))
    },
    verbatim: source,
    check: (value) =>
      checkSafely(() => {
        if (ready) return checkWithinTime(ready, value)
        return loadPlainValidator(schema).then(({ validator, limit }) =>
          checkWithinTime(
            (ready = { schema, refs, validator, limit, fillsDefaults: hasDefaults(schema) }),
            value,
          ),
        )
      }, value),
  }
}

type TimeLimiter = <T extends object>(run: () => T) => T | undefined
type ReadyValidator = {
  readonly schema: JsonSchema
  readonly refs: SchemaRefs
  readonly fillsDefaults: boolean
  readonly validator: PlainValidator
  readonly limit: TimeLimiter | undefined
}

function checkWithinTime(ready: ReadyValidator, value: unknown): SchemaCheckResult {
  if (!ready.limit) return checkPlainValue(ready, value)
  return (
    ready.limit(() => checkPlainValue(ready, value)) ?? {
      ok: false,
      issues: [
        {
          path: [],
          kind: 'invalid',
          message: 'takes too long to check against the patterns of the schema; give shorter texts',
        },
      ],
    }
  )
}

function checkPlainValue(ready: ReadyValidator, value: unknown): SchemaCheckResult {
  const { schema, refs, validator } = ready
  const explainer = createExplainer(refs, validator.formats)
  if (value === undefined)
    return {
      ok: false,
      issues: toIssues(explainer, schema, value, [], [{ path: [], message: 'is required' }]),
    }
  const { issues, hasGaps } = findNonJson(value)
  if (issues.length > 0) return { ok: false, issues }
  const given = hasGaps ? dropUndefined(value) : value
  const filled = ready.fillsDefaults ? applyDefaults(explainer, schema, given) : given
  const unknown = findUnknownKeys(explainer, schema, filled)
  const units = validator.validate(filled)
  if (units.length === 0)
    return unknown.length === 0 ? { ok: true, value: filled } : { ok: false, issues: unknown }
  return {
    ok: false,
    issues: toIssues(explainer, schema, filled, unknown, removeWrapperUnits(units)),
  }
}

async function loadPlainValidator(
  schema: JsonSchema,
): Promise<Pick<ReadyValidator, 'validator' | 'limit'>> {
  try {
    const limit = hasRiskyPatterns(schema)
      ? (await import('../../util/time-limit.ts')).runWithTimeLimit
      : undefined
    return { validator: await loadValidator(schema), limit }
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `the schema cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    )
  }
}

// Schemas that decide by more than their own properties need the whole search.
const KEYWORDS_THAT_NEED_SEARCH = [
  '$ref',
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  '$dynamicRef',
  '$recursiveRef',
  'patternProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'prefixItems',
  'contains',
  'additionalItems',
  'propertyNames',
]
const MAX_KEY_CHECK_DEPTH = 20

/**
 * True when a value certainly has no key that its schema does not know; false means that it has to
 * be searched.
 */
type KeyCheck = (value: unknown, depth?: number) => boolean

const isNotPlainData: KeyCheck = (value) => !isPlainData(value)

/** Prepares, once for a schema, the quick look that is enough for most values. */
function createKeyCheck(schema: unknown): KeyCheck {
  if (
    !isSchemaObject(schema) ||
    KEYWORDS_THAT_NEED_SEARCH.some((keyword) => Object.hasOwn(schema, keyword))
  )
    return isNotPlainData
  const ofFields = createFieldCheck(schema)
  const ofItems = Object.hasOwn(schema, 'items') ? createKeyCheck(schema['items']) : isNotPlainData
  return (value, depth = 0) => {
    if (!isPlainData(value)) return true
    if (depth > MAX_KEY_CHECK_DEPTH) return false
    if (!Array.isArray(value)) return ofFields(value, depth + 1)
    // What is no object holds no keys: most need no further look.
    for (const item of value)
      if (typeof item === 'object' && !ofItems(item, depth + 1)) return false
    return true
  }
}

function createFieldCheck(
  schema: JsonSchema,
): (fields: { readonly [key: string]: unknown }, depth: number) => boolean {
  const { properties, additionalProperties } = schema
  if (
    !isSchemaObject(properties) ||
    (additionalProperties !== undefined && additionalProperties !== false)
  )
    return () => false
  const known = new Map(
    Object.entries(properties).map(([key, property]) => [key, createKeyCheck(property)]),
  )
  return (fields, depth) => {
    // Also keys that a prototype gives, which no schema knows: then it is searched, as it should
    // be.
    for (const key in fields) {
      const value = fields[key]
      const knows = known.get(key)
      if (knows === undefined || (typeof value === 'object' && !knows(value, depth))) return false
    }
    return true
  }
}

/** Throws CONFIG unless only objects can fit: fields of the input are named on every surface. */
function requireObjectSchema(schema: JsonSchema, refs: SchemaRefs): void {
  if (!isObjectSchema(schema, refs))
    throw new ToolError('CONFIG', 'the input schema must describe an object', {
      suggestion: SCHEMA_ADVICE,
    })
}

function isObjectSchema(schema: AnySchema, refs: SchemaRefs, seen = new Set<AnySchema>()): boolean {
  if (typeof schema === 'boolean' || seen.has(schema)) return false
  seen.add(schema)
  const types = getTypes(schema)
  if (types) return types.length === 1 && types[0] === 'object'
  if (getKeyword(schema, 'properties') !== undefined) return true
  const target = refs.follow(schema)
  if (target !== undefined && isObjectSchema(target, refs, seen)) return true
  if (getSchemaList(schema, 'allOf').some((member) => isObjectSchema(member, refs, seen)))
    return true
  return ['anyOf', 'oneOf'].some((keyword) => {
    const branches = getSchemaList(schema, keyword)
    return (
      branches.length > 0 && branches.every((branch) => isObjectSchema(branch, refs, new Set(seen)))
    )
  })
}

/**
 * Checks a value so that whatever it throws becomes an issue. Errors that the author raised with
 * `fail` pass through.
 */
function checkSafely(
  check: (value: unknown) => SchemaCheckResult | Promise<SchemaCheckResult>,
  value: unknown,
): SchemaCheckResult | Promise<SchemaCheckResult> {
  try {
    const checked = check(value)
    return checked instanceof Promise ? checked.catch(toFailedCheck) : checked
  } catch (error) {
    return toFailedCheck(error)
  }
}

function toFailedCheck(error: unknown): SchemaCheckResult {
  if (ToolError.is(error)) throw error
  const message =
    error instanceof RangeError && /call stack/i.test(error.message)
      ? 'is nested too deeply'
      : `cannot be checked: ${error instanceof Error ? error.message : String(error)}`
  return { ok: false, issues: [{ path: [], kind: 'invalid', message }] }
}
