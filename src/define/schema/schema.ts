import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../../contract/json.ts'

/** A schema of any library that speaks Standard Schema and can give its JSON Schema (zod, arktype, valibot when wrapped). */
export type StandardSchema<Input = unknown, Output = Input> = StandardSchemaV1<Input, Output> &
  StandardJSONSchemaV1<Input, Output>

export type { TypedJsonSchema } from '../../contract/json.ts'

/** What an author may give as `input` or `output`. A thunk is called when the schema is first needed. */
export type SchemaSource = StandardSchema | JsonSchema
export type LazySchema<S extends SchemaSource = SchemaSource> = S | (() => S)

/** One thing that is wrong with a value, at one place. */
export type Issue = {
  readonly path: readonly (string | number)[]
  /** A sentence without the path, in the words of the caller: what is expected, what was given. */
  readonly message: string
  readonly kind: 'missing' | 'unknown_key' | 'invalid'
  /** For unknown keys and enum values: what was probably meant. */
  readonly meant?: string
}

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** A schema made ready for use; the same few functions whatever library it came from. */
export type Schema = {
  /** Self-contained JSON Schema, objects closed unless the author opened them: what is shown to callers. */
  readonly json: JsonSchema
  /** The author's own JSON Schema, where plain JSON Schema was given. */
  readonly verbatim?: JsonSchema
  /** Checks strictly (no coercion, unknown keys refused at every depth), applies defaults and transforms. Never throws for bad values. */
  check(value: unknown): Checked | Promise<Checked>
}
