import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TypedJsonSchema } from './schema/schema.ts'
import type { ResultYield } from './events.ts'
import type { Reply } from './results.ts'

type Resolved<S> = S extends () => infer R ? R : S

/** The type that callers give for a schema. Plain JSON Schema without `jsonSchema<T>` is an object of unknown fields. */
export type InputOf<S> =
  Resolved<S> extends StandardSchemaV1<infer Input, unknown>
    ? Input
    : Resolved<S> extends TypedJsonSchema<infer T>
      ? unknown extends T
        ? Record<string, unknown>
        : T
      : Record<string, unknown>

/** The type that comes out of a schema, defaults and transforms applied. */
export type OutputOf<S> =
  Resolved<S> extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : Resolved<S> extends TypedJsonSchema<infer T>
      ? unknown extends T
        ? Record<string, unknown>
        : T
      : Record<string, unknown>

/** What `run` may return when its result is `Result`. */
export type RunReturn<Result> =
  | Result
  | Reply<Result>
  | Promise<Result | Reply<Result>>
  // The third parameter is contravariant: `never` takes sessions and streams alike.
  | Generator<unknown, Result | Reply<Result> | void, never>
  | AsyncGenerator<unknown, Result | Reply<Result> | void, never>

/** The result type behind what `run` returns: promises, generators and replies unwrapped. */
export type ResultOf<Returned> = Returned extends
  AsyncGenerator<infer Yields, infer Result, never> | Generator<infer Yields, infer Result, never>
  ? GeneratorResult<Yields, Unreply<Result>>
  : Unreply<Awaited<Returned>>

type Unreply<T> = T extends Reply<infer Result> ? Result : T
type GeneratorResult<Yields, Returned> = [Returned] extends [void]
  ? [Extract<Yields, ResultYield>] extends [never]
    ? null
    : Extract<Yields, ResultYield> extends ResultYield<infer R>
      ? R
      : null
  : Returned

/** The result that `run` must come to, given the declared output. Plain JSON Schema says nothing to the compiler; only an input is an object at least. */
export type DeclaredResult<Output> = IsTyped<Output> extends true ? InputOf<Output> : unknown

/** The result that callers get: as declared, else what `run` returns. */
export type ResultFor<Output, Returned> =
  IsTyped<Output> extends true
    ? OutputOf<Output>
    : [Returned] extends [never]
      ? unknown
      : Widen<ResultOf<Returned>>

type IsTyped<S> =
  Resolved<S> extends StandardSchemaV1
    ? true
    : Resolved<S> extends TypedJsonSchema<infer T>
      ? unknown extends T
        ? false
        : true
      : false

export type Primitive = string | number | bigint | boolean | null | undefined

/** Any result. Inferred through it, the text 'a' in a returned object stays the literal that the output schema may ask for. */
export type Literals<Literal extends Primitive> =
  Literal | { readonly [key: string]: Literals<Literal> } | readonly Literals<Literal>[] | {}

// Inferred through `Literals`, the number 0 in a result is the literal 0; callers want a number. Unions are left alone: somebody declared them.
type Widen<T> = 0 extends 1 & T
  ? T
  : IsUnion<T> extends true
    ? T
    : [T] extends [string]
      ? string
      : [T] extends [number]
        ? number
        : [T] extends [bigint]
          ? bigint
          : [T] extends [boolean]
            ? boolean
            : T extends readonly (infer Item)[]
              ? number extends T['length']
                ? Widen<Item>[]
                : T
              : T extends Record<string, unknown>
                ? { [Key in keyof T]: Widen<T[Key]> }
                : T
type IsUnion<T, All = T> = [T] extends [never]
  ? true
  : T extends unknown
    ? [All] extends [T]
      ? false
      : true
    : never
