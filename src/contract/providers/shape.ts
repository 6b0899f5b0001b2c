/** The types of JSON Schema besides `null`. */
export type ShapeType = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array'

/** What a schema says about values, in the few words that every provider can be told. It never allows less than the schema it was read from, but for what follows a tuple that nobody closed. */
export type Shape = {
  /** Absent: any type. */
  readonly types?: readonly ShapeType[]
  readonly nullable: boolean
  readonly description?: string
  readonly properties: ReadonlyMap<string, Shape>
  readonly required: ReadonlySet<string>
  /** What other keys may hold; false: there are none; undefined: the schema does not say. */
  readonly additional: Shape | boolean | undefined
  readonly items?: Shape
  /** Items of a tuple. */
  readonly prefix?: readonly Shape[]
  readonly anyOf?: readonly Shape[]
  /** Without null, which `nullable` tells. */
  readonly values?: readonly unknown[]
  /** Keywords that narrow a value: `minimum`, `pattern`, `format` ...; and `default`. */
  readonly limits: { readonly [keyword: string]: unknown }
}

/** Anything at all. */
export const ANY: Shape = {
  nullable: true,
  properties: new Map(),
  required: new Set(),
  additional: undefined,
  limits: {},
}

/** True for a shape that says nothing about its values. */
export function isAny({ types, properties, items, prefix, anyOf, values }: Shape): boolean {
  return (
    types === undefined &&
    properties.size === 0 &&
    items === undefined &&
    prefix === undefined &&
    anyOf === undefined &&
    values === undefined
  )
}

/** True when an object of this shape may have keys that nobody described. */
export function isOpen({ additional, properties }: Shape): boolean {
  return additional === undefined ? properties.size === 0 : additional !== false
}
