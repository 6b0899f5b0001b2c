import { toFlagName } from '../define/argv.ts'
import type { DeclaredError } from '../protocol/errors.ts'
import type { Annotations, Example, FlagOptions } from '../protocol/manifest.ts'
import type { JsonSchema } from '../util/values.ts'

/**
 * What was read of a module: its functions as tools, and what could not become one. Pure data, so
 * that a cache or a built program can carry it.
 */
export type ModuleManifest = {
  /** The program's name: from the nearest package.json or the file. */
  readonly name: string
  readonly version?: string
  readonly description?: string
  readonly functions: readonly FunctionManifest[]
  readonly problems: readonly FunctionProblem[]
}

/** One exported function as a tool, without its code. */
export type FunctionManifest = {
  /**
   * How to reach it in the module: `findFiles`, `default`, or `default.findFiles` for a member of
   * an exported object.
   */
  readonly export: string
  /** The name of the tool: `find_files`. */
  readonly name: string
  readonly summary: string
  readonly description?: string
  /** Self-contained, of type object; recursive types stand in its `$defs`. */
  readonly input: JsonSchema
  /** Absent where the type says nothing that could be held against a result. */
  readonly output?: JsonSchema
  /** How the fields of the input become arguments, in order. */
  readonly parameters: readonly FunctionParameter[]
  /** Conversions that refer to themselves, by name. */
  readonly conversions?: { readonly [name: string]: Conversion }
  /** Present where the function gives its values one by one; says what they are. */
  readonly yields?: 'items' | 'events' | 'both'
  /** The generator returns nothing: its items are the result. */
  readonly collects?: true
  /** It is a generator that asks and receives answers. */
  readonly session?: true
  readonly positional: readonly string[]
  readonly flags: { readonly [field: string]: FlagOptions }
  readonly annotations: Annotations
  readonly examples: readonly Example[]
  readonly errors: { readonly [code: string]: DeclaredError }
  readonly tags: readonly string[]
  /** Seconds, or a text such as `500ms`. */
  readonly timeout?: number | string
  readonly deprecated?: string | true
  /** Where it is written. */
  readonly file: string
  readonly line: number
}

/** Where one argument of the function comes from. */
export type FunctionParameter =
  | { readonly from: 'field'; readonly field: string; readonly convert?: Conversion }
  /** All further arguments: the items of a list. */
  | { readonly from: 'rest'; readonly field: string; readonly convert?: Conversion }
  /**
   * An object whose properties are fields of the input. Where it is optional and none of them is
   * given, neither is it.
   */
  | {
      readonly from: 'fields'
      readonly fields: readonly ObjectField[]
      readonly optional: boolean
      /** Properties that get the signal of the call. */ readonly signals?: readonly string[]
    }
  | { readonly from: 'context' }
  | { readonly from: 'signal' }
  /** An optional parameter that no input can give. */
  | { readonly from: 'nothing' }

export type ObjectField = {
  readonly property: string
  readonly field: string
  readonly convert?: Conversion
}

/** What a text of the input becomes before the function gets it. */
export type TextConversion = 'date' | 'url' | 'regexp' | 'bigint' | 'bytes' | 'buffer'

/**
 * How a JSON value becomes what the function takes, by the kind of JSON that it is; what is not
 * named stays as it is.
 */
export type Conversion = {
  /**
   * Texts that stand for something exact: the names of a numeric enum for its numbers, and literals
   * for themselves. They come before `text`.
   */
  readonly names?: { readonly [name: string]: number | string }
  readonly text?: TextConversion
  readonly number?: 'date' | 'bigint'
  readonly list?: {
    readonly to?: 'set' | 'map'
    /** By place, for tuples; null leaves an item alone. */ readonly first?: readonly (Conversion | null)[]
    readonly items?: Conversion
  }
  readonly object?: ObjectConversion
  /** A name in `conversions` of the function, in the place of everything else. */
  readonly ref?: string
}

export type ObjectConversion = {
  readonly to?: 'map'
  readonly fields?: { readonly [property: string]: Conversion }
  /** For properties that are not named. */
  readonly values?: Conversion
  /** Of several forms, told apart by the value of a property: the first that fits. */
  readonly variants?: readonly {
    readonly property: string
    readonly values: readonly (string | number | boolean | null)[]
    readonly convert: ObjectConversion
  }[]
}

/** An export that did not become a tool, or something doubtful about one that did. */
export type FunctionProblem = {
  /** The export; empty for the module itself. */
  readonly export: string
  readonly file: string
  readonly line: number
  /**
   * A word for programs: 'callback', 'class', 'any', 'not-a-function', 'overloads', 'example',
   * 'tag' ...
   */
  readonly reason: string
  readonly message: string
  /** What to do about it. */
  readonly fix: string
  /**
   * `error` keeps the function out, `warning` does not. `note`: it was never meant to be a tool.
   */
  readonly severity: 'error' | 'warning' | 'note'
}

/**
 * The name of the tool of a function: `findFiles` is `find_files`. Empty where nothing of it can be
 * kept.
 */
export function toToolName(name: string): string {
  return toFlagName(name)
    .replaceAll('-', '_')
    .replace(/[^a-z0-9_]+/g, '')
    .slice(0, 64)
}

/** The words of a name, for a function that nobody has described: `Find files`. */
export function toWords(name: string): string {
  const words = toFlagName(name).replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
