declare const valueType: unique symbol

/** A value that a workflow will have when it runs: its fields and items are such values too, and as text it is `${{ ... }}`. What nobody has typed (`unknown`) fits everywhere, and is checked when it is there. */
export type Ref<T = unknown> = { readonly [valueType]: unknown extends T ? never : T } & Inside<T>

/** A reference whatever it stands for. */
export type AnyRef = { readonly [valueType]: unknown }

/** What may stand where a `T` is wanted: the value, a reference to one, or the value with references in it. */
export type Given<T> = Ref<T> | Plain<T>

/** An object whose fields may be references, or hold some. */
export type GivenFields<T> = { [Key in keyof T]: Given<T[Key]> }

/** The type behind what was given: references stand for their values. */
export type ValueOf<G> = G extends { readonly [valueType]: infer T }
  ? [T] extends [never]
    ? unknown
    : T
  : G extends { readonly stepName: string; readonly result: { readonly [valueType]: infer T } }
    ? [T] extends [never]
      ? unknown
      : T
    : G extends Leaf
      ? G
      : G extends object
        ? { -readonly [Key in keyof G]: ValueOf<G[Key]> }
        : G

type Leaf = string | number | boolean | bigint | symbol | null | undefined

type Plain<T> = T extends Leaf ? T : T extends object ? GivenFields<T> : T

type Inside<T> = unknown extends T
  ? { readonly [key: string]: Ref }
  : FieldsOf<NonNullable<T>, null extends T ? null : undefined extends T ? null : never>

type FieldsOf<T, Missing> = T extends Leaf
  ? unknown
  : T extends readonly (infer Item)[]
    ? number extends T['length']
      ? ItemsOf<Item, Missing>
      : {
          readonly [Key in keyof T as Key extends `${number}` ? Key : never]: Ref<T[Key] | Missing>
        }
    : T extends object
      ? { readonly [Key in keyof T]-?: Ref<Settled<T[Key]> | Missing> }
      : unknown

// Named one by one, the first items are there for compilers that doubt every index.
type ItemsOf<Item, Missing> = {
  readonly [Key in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9]: Ref<Item | Missing>
} & { readonly [index: number]: Ref<Item | Missing> }

// What is absent is null in a workflow.
type Settled<T> = unknown extends T ? T : undefined extends T ? Exclude<T, undefined> | null : T
