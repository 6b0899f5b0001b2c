/**
 * What an author gives as a schema: a schema of a library (zod, arktype, valibot) or plain JSON Schema, perhaps behind a function. This file tells them apart and knows how to ask each library for its JSON Schema.
 *
 * The rest of this folder: `compile.ts` makes a schema ready for checks, `publish.ts` writes the JSON Schema that callers see, `explain.ts` and `unknown-keys.ts` say what is wrong with a value, `issues.ts` turns that into an error.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { isPreparedSchema } from '../../protocol/built-program.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { JsonSchema, TypedJsonSchema } from '../../util/values.ts'
import { compact } from '../../util/values.ts'

/**
 * True for an object where a schema is expected. Compiling a schema asks this for every node, so
 * the folder has its own function for it.
 */
export function isSchemaObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What an author may give as a schema, as advice. */
export const SCHEMA_ADVICE =
  "Give a schema of zod (z.object({...})), arktype or wrapped valibot, or plain JSON Schema ({ type: 'object', properties: {...} })"

/** The schema behind a thunk, which is called once; a schema itself is given back. */
export function resolveSchema(lazy: LazySchema): SchemaSource {
  if (!isSchemaThunk(lazy)) return lazy
  const known = resolvedThunks.get(lazy)
  if (known !== undefined) return known
  const source = lazy()
  resolvedThunks.set(lazy, source)
  return source
}

/** True for a function that gives a schema. Schemas of some libraries are functions too. */
export function isSchemaThunk(lazy: LazySchema): lazy is () => SchemaSource {
  return typeof lazy === 'function' && !isStandardSchema(lazy)
}

/**
 * True for a schema that is not looked at before somebody needs it: a thunk, and one that a build
 * has prepared.
 */
export function isDeferredSchema(lazy: LazySchema): boolean {
  return isSchemaThunk(lazy) || isPreparedSchema(lazy)
}

/** Runs what may refuse a schema, and names its tool in the error. */
export function attributeSchemaError<T>(tool: string, part: 'input' | 'output', run: () => T): T {
  try {
    return run()
  } catch (error) {
    const suggestion = ToolError.is(error) ? error.suggestion : undefined
    throw new ToolError(
      'CONFIG',
      `'${part}' of tool '${tool}': ${error instanceof Error ? error.message : String(error)}`,
      { cause: error, ...compact({ suggestion }) },
    )
  }
}

/** Plain JSON Schema that carries the type of its values for the compiler. */
export function jsonSchema<T>(schema: JsonSchema): TypedJsonSchema<T> {
  return schema
}

/**
 * A schema told apart by its kind. Throws CONFIG, with the way out, for what is no usable schema.
 */
export function classifySchema(
  source: unknown,
): { readonly standard: StandardSchema } | { readonly plain: JsonSchema } {
  return isStandardSchema(source)
    ? { standard: requireJsonSchema(source) }
    : { plain: requirePlainSchema(source) }
}

const resolvedThunks = new WeakMap<object, SchemaSource>()

function isStandardSchema(source: unknown): source is StandardSchema {
  return (
    ((typeof source === 'object' && source !== null) || typeof source === 'function') &&
    isSchemaObject((source as { '~standard'?: unknown })['~standard'])
  )
}

function requireJsonSchema(source: StandardSchema): StandardSchema {
  const {
    vendor,
    validate,
    jsonSchema: converter,
  } = source['~standard'] as { vendor?: unknown; validate?: unknown; jsonSchema?: unknown }
  if (typeof validate === 'function' && isSchemaObject(converter)) return source
  const name = typeof vendor === 'string' ? vendor : 'the library'
  throw new ToolError('CONFIG', `this ${name} schema cannot give its JSON Schema`, {
    suggestion: adviseWrapping(name),
  })
}

function requirePlainSchema(source: unknown): JsonSchema {
  if (!isSchemaObject(source) || typeof source['then'] === 'function') {
    throw new ToolError(
      'CONFIG',
      `${isSchemaObject(source) ? 'a promise' : describeSource(source)} is not a schema`,
      { suggestion: SCHEMA_ADVICE },
    )
  }
  const shape = Object.keys(source).find((key) => isStandardSchema(source[key]))
  if (shape !== undefined) {
    throw new ToolError(
      'CONFIG',
      `the schema is an object of schemas ('${shape}' is one), not a schema`,
      { suggestion: 'Wrap the fields: z.object({...})' },
    )
  }
  return source
}

function describeSource(source: unknown): string {
  if (typeof source === 'function') return 'a function'
  if (Array.isArray(source)) return 'a list'
  return (JSON.stringify(source) ?? String(source)).slice(0, 80)
}

/**
 * A schema of any library that speaks Standard Schema and can give its JSON Schema (zod, arktype,
 * valibot when wrapped).
 */
export type StandardSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>

/**
 * What an author may give as `input` or `output`. A thunk is called when the schema is first
 * needed.
 */
export type SchemaSource = StandardSchema | JsonSchema
export type LazySchema<S extends SchemaSource = SchemaSource> = S | (() => S)

/** One thing that is wrong with a value, at one place. */
export type SchemaIssue = {
  readonly path: readonly (string | number)[]
  /** A sentence without the path, in the words of the caller: what is expected, what was given. */
  readonly message: string
  readonly kind: 'missing' | 'unknown_key' | 'invalid'
  /** For unknown keys and enum values: what was probably meant. */
  readonly meant?: string
}

export type SchemaCheckResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

/** A schema made ready for use; the same few functions whatever library it came from. */
export type CompiledSchema = {
  /**
   * Self-contained JSON Schema, objects closed unless the author opened them: what is shown to
   * callers.
   */
  readonly json: JsonSchema
  /** The author's own JSON Schema, where plain JSON Schema was given. */
  readonly verbatim?: JsonSchema
  /**
   * Checks strictly (no coercion, unknown keys refused at every depth), applies defaults and
   * transforms. Never throws for bad values.
   */
  check(value: unknown): SchemaCheckResult | Promise<SchemaCheckResult>
}

/**
 * Marks a schema whose JSON form is text or a number, and whose value in the program is something
 * else. Never published.
 */
export const DECODE_MARK = 'x-toolable-decode'

type LibraryOptions = { readonly [option: string]: unknown }

const DATE_SCHEMA = { type: 'string', format: 'date-time', [DECODE_MARK]: 'date' }
const BIGINT_SCHEMA = { type: 'integer', [DECODE_MARK]: 'bigint' }

// How each library is told to write dates and big integers instead of throwing; what JSON has no
// word for becomes "anything".
const OPTIONS_BY_VENDOR: ReadonlyMap<string, LibraryOptions> = new Map<string, LibraryOptions>([
  [
    'zod',
    {
      unrepresentable: 'any',
      override({
        zodSchema,
        jsonSchema,
      }: {
        zodSchema: { _zod: { def: { type: string } } }
        jsonSchema: Record<string, unknown>
      }): void {
        const { type } = zodSchema._zod.def
        if (type === 'date') Object.assign(jsonSchema, DATE_SCHEMA)
        if (type === 'bigint') Object.assign(jsonSchema, BIGINT_SCHEMA)
      },
    },
  ],
  [
    'arktype',
    {
      fallback: {
        date: ({ base }: { base: object }) => ({ ...base, ...DATE_SCHEMA }),
        domain: ({ base, domain }: { base: object; domain: string }) =>
          domain === 'bigint' ? { ...base, ...BIGINT_SCHEMA } : base,
        default: ({ base }: { base: object }) => base,
      },
    },
  ],
  [
    'valibot',
    {
      errorMode: 'ignore',
      overrideSchema({ valibotSchema }: { valibotSchema: { type: string } }): object | undefined {
        if (valibotSchema.type === 'date') return DATE_SCHEMA
        return valibotSchema.type === 'bigint' ? BIGINT_SCHEMA : undefined
      },
    },
  ],
])

// What the libraries say by themselves; anything else was written by the author.
const STOCK_MESSAGE = /^(?:Invalid|Too (?:small|big)|Unrecognized)\b/
const CUSTOM_RULE_CODES = new Set([
  'custom',
  'predicate',
  'check',
  'raw_check',
  'partial_check',
  'check_items',
])

/** What to pass to a library when it writes its JSON Schema. */
export function getLibraryOptions(vendor: string): LibraryOptions | undefined {
  return OPTIONS_BY_VENDOR.get(vendor)
}

/** How to make a schema usable that cannot give its JSON Schema. */
function adviseWrapping(vendor: string): string {
  if (vendor === 'valibot')
    return "Wrap it: import { toStandardJsonSchema } from '@valibot/to-json-schema', then toStandardJsonSchema(schema)"
  if (vendor === 'zod')
    return "Use zod 4.2 or newer and import { z } from 'zod': zod/mini and zod 3 cannot give a JSON Schema"
  return `Use a version of ${vendor} that implements Standard JSON Schema (~standard.jsonSchema), or give plain JSON Schema`
}

/**
 * True when an issue comes from a rule that the author wrote: its own message is the best there is.
 */
export function isCustomRule(issue: object): boolean {
  const { code, type, message, problem } = issue as {
    code?: unknown
    type?: unknown
    message?: unknown
    problem?: unknown
  }
  if (CUSTOM_RULE_CODES.has(String(code)) || CUSTOM_RULE_CODES.has(String(type))) return true
  // arktype, the one with a `problem`, writes all its messages itself.
  return problem === undefined && typeof message === 'string' && !STOCK_MESSAGE.test(message)
}
