import type ts from 'typescript'
import type { JsonSchema } from '../../../contract/json.ts'
import { readBuiltin } from './builtins.ts'
import { readList } from './lists.ts'
import { readLiteral } from './literals.ts'
import { readObject } from './objects.ts'
import { readUnion } from './unions.ts'
import { Unreadable } from './work.ts'
import type { Reading, Work } from './work.ts'

const MOST_LEVELS = 24
const MOST_TYPES = 4000
const MOST_TURNS = 3

type Beginning = Omit<Work, 'read' | 'definitions' | 'conversions'>

/** Makes ready to read the types of one function. */
export function beginReading(given: Beginning): Work {
  const path: Step[] = []
  let count = 0
  const work: Work = {
    ...given,
    definitions: new Map(),
    conversions: new Map(),
    read(type) {
      count += 1
      // A type that grows with every level has no end: what is too deep is left open.
      if (
        path.length > MOST_LEVELS ||
        count > MOST_TYPES ||
        timesWithin(work, path, type) >= MOST_TURNS
      )
        return { schema: {} }
      const repeated = path.find((step) => step.type === type)
      if (repeated) return refer(work, repeated)
      const step: Step = { type, name: undefined }
      const isNamed = isObjectType(work, type)
      if (isNamed) path.push(step)
      try {
        const reading = readOne(work, type)
        return step.name === undefined ? reading : define(work, step.name, reading)
      } finally {
        if (isNamed) path.pop()
      }
    },
  }
  return work
}

// How often a type of the same name, with other arguments, is around this one.
function timesWithin({ checker }: Work, path: readonly Step[], type: ts.Type): number {
  const symbol = type.aliasSymbol ?? type.getSymbol()
  if (
    !symbol ||
    symbol.name.startsWith('__') ||
    checker.isArrayType(type) ||
    checker.isTupleType(type)
  )
    return 0
  return path.filter(
    (step) => step.type !== type && (step.type.aliasSymbol ?? step.type.getSymbol()) === symbol,
  ).length
}

type Step = { readonly type: ts.Type; name: string | undefined }

function refer(work: Work, step: Step): Reading {
  step.name ??= freeName(work, step.type)
  return { schema: { $ref: `#/$defs/${step.name}` }, convert: { ref: step.name } }
}

function define(work: Work, name: string, { schema, convert, optional }: Reading): Reading {
  work.definitions.set(name, schema)
  // A reference to a conversion that does nothing is harmless.
  work.conversions.set(name, convert ?? {})
  return {
    schema: { $ref: `#/$defs/${name}` },
    convert: { ref: name },
    ...(optional && { optional }),
  }
}

function freeName({ definitions, checker }: Work, type: ts.Type): string {
  const wanted =
    checker
      .typeToString(type)
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 40) || 'Type'
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`
    if (!definitions.has(name)) {
      // Taken from now on, before it is known what it is.
      definitions.set(name, {})
      return name
    }
  }
}

function isObjectType({ ts }: Work, type: ts.Type): boolean {
  return (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.UnionOrIntersection)) !== 0
}

function readOne(work: Work, type: ts.Type): Reading {
  const { TypeFlags } = work.ts
  const { flags } = type
  if (flags & TypeFlags.Any) return readAny(work, type)
  if (flags & TypeFlags.Unknown) return openSchema(work)
  if (flags & (TypeFlags.Undefined | TypeFlags.Void))
    return { schema: { type: 'null' }, optional: true }
  if (flags & TypeFlags.Never)
    return work.direction === 'output' ? openSchema(work) : { schema: { not: {} }, optional: true }
  if (type.isUnion()) return readUnion(work, type)
  const literal = readLiteral(work, type)
  if (literal) return literal
  if (flags & TypeFlags.NonPrimitive) return { schema: { type: 'object' } }
  if (type.isIntersection()) return readIntersection(work, type)
  if (flags & TypeFlags.Object) return readObjectType(work, type)
  return readDeferred(work, type)
}

function readAny(work: Work, type: ts.Type): Reading {
  if (work.direction === 'input' && isUnresolved(work, type))
    throw new Unreadable(
      'unresolved',
      'its type cannot be found',
      'Declare or import the type that it names, and see that the import leads to a file',
    )
  if (work.direction === 'input' && work.strict)
    throw new Unreadable(
      'any',
      'nothing is known about its type (any)',
      'Give it a type; `unknown` where any value will do',
    )
  return openSchema(work)
}

// The compiler takes a type that it cannot find for `any`, which nobody has written. Packages of others are taken as they come.
function isUnresolved({ at }: Work, type: ts.Type): boolean {
  return (
    (type as { readonly intrinsicName?: string }).intrinsicName === 'error' &&
    !at.getSourceFile().fileName.includes('/node_modules/')
  )
}

// Anything may be nothing: a property of a result may be missing.
function openSchema({ direction }: Work): Reading {
  return { schema: {}, ...(direction === 'output' && { optional: true }) }
}

function readObjectType(work: Work, type: ts.Type): Reading {
  const known = readBuiltin(work, type) ?? readList(work, type)
  if (known) return known
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) {
    if (work.direction === 'output') return { schema: {} }
    throw new Unreadable(
      'callback',
      'a function cannot be written as JSON',
      'Take data instead, or make the parameter optional',
    )
  }
  return readObject(work, type)
}

// A branded text (`string & { __brand: 'id' }`) is a text; everything else is one object with all properties.
function readIntersection(work: Work, type: ts.IntersectionType): Reading {
  const { TypeFlags } = work.ts
  const primitive = type.types.find(
    ({ flags }) =>
      flags &
      (TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BooleanLike | TypeFlags.BigIntLike),
  )
  if (primitive) return work.read(primitive)
  const list = type.types.find(
    (member) => work.checker.isArrayType(member) || work.checker.isTupleType(member),
  )
  return list ? work.read(list) : readObject(work, type)
}

// Type parameters, indexed access and conditional types are as wide as what they are bound to.
function readDeferred(work: Work, type: ts.Type): Reading {
  const bound = work.checker.getBaseConstraintOfType(type)
  if (bound && bound !== type) return work.read(bound)
  const fallback = type.isTypeParameter() ? type.getDefault() : undefined
  return fallback ? work.read(fallback) : openSchema(work)
}

/** A schema with the recursive types that it refers to. */
export function withDefinitions(
  schema: JsonSchema,
  definitions: ReadonlyMap<string, JsonSchema>,
): JsonSchema {
  const used = new Map<string, JsonSchema>()
  const collect = (part: JsonSchema): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/\$defs\/([A-Za-z0-9_]+)"/g)) {
      const definition = definitions.get(name!)
      if (used.has(name!) || !definition) continue
      used.set(name!, definition)
      collect(definition)
    }
  }
  collect(schema)
  return used.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(used) }
}
