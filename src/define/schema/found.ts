import type { Lens } from './pieces.ts'
import type { Issue } from './schema.ts'
import type { AnySchema } from './subschemas.ts'

/** An issue on its way: with what unions need to know to choose among their branches. */
export type Found = Issue & {
  readonly allowed?: readonly unknown[]
  readonly types?: readonly string[]
}

/** Says in our words what a JSON Schema has against a value. It explains; whether a value is valid is decided by the schema library. */
export type Explainer = Lens & { explain(schema: AnySchema, value: unknown): readonly Found[] }

/** Tests of string formats by name. */
export type FormatTests = { readonly [format: string]: (text: string) => boolean }
