import type ts from 'typescript'
import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import { mergeConversions } from './merge-conversions.ts'
import { isEnumNumber, readEnumNumbers } from './enums.ts'
import { isTrue } from './literals.ts'
import { Unreadable } from './work.ts'
import type { Reading, Work } from './work.ts'

/** Reads a union: literals become an enumeration, `undefined` makes it optional, everything else are alternatives. */
export function readUnion(work: Work, type: ts.UnionType): Reading {
  const { TypeFlags } = work.ts
  const isAbsent = (member: ts.Type): boolean =>
    (member.flags & (TypeFlags.Undefined | TypeFlags.Void)) !== 0
  const present = type.types.filter((member) => !isAbsent(member))
  const optional = present.length < type.types.length ? { optional: true as const } : {}
  const named =
    work.direction === 'input'
      ? present.filter((member): member is ts.NumberLiteralType => isEnumNumber(work, member))
      : []
  const members = foldBooleans(work, present)
  const readings = members.flatMap((member) => {
    if (member === 'boolean') return [{ schema: { type: 'boolean' } } satisfies Reading]
    if (named.some((each) => each === member))
      return member === named[0] ? [readEnumNumbers(named)] : []
    const reading = readMember(work, member, members.length)
    return reading ? [reading] : []
  })
  if (readings.length === 0)
    return present.length === 0
      ? { schema: { type: 'null' }, ...optional }
      : readMembersOrThrow(work, present)
  const convert = mergeConversions(readings)
  return {
    schema: {
      ...joinSchemas(readings.map(({ schema }) => schema)),
      ...(named.length === 0 && nameMembers(work, type)),
    },
    ...(convert && { convert }),
    ...optional,
  }
}

// The numbers of an enum say nothing without their names.
function nameMembers({ ts }: Work, type: ts.UnionType): JsonSchema {
  if (!(type.flags & ts.TypeFlags.EnumLike)) return {}
  const members = type.types.flatMap((member) =>
    member.isNumberLiteral() ? [`${member.value}: ${member.symbol.name}`] : [],
  )
  return members.length > 0 ? { description: members.join(', ') } : {}
}

// `boolean` comes as `false | true`.
function foldBooleans(work: Work, members: readonly ts.Type[]): readonly (ts.Type | 'boolean')[] {
  const literals = members.filter((member) => member.flags & work.ts.TypeFlags.BooleanLiteral)
  if (!literals.some((literal) => isTrue(work, literal)) || literals.length < 2) return members
  const at = members.indexOf(literals[0]!)
  return members.flatMap((member, index): readonly (ts.Type | 'boolean')[] =>
    index === at ? ['boolean'] : literals.includes(member) ? [] : [member],
  )
}

// Of several ways to give a value, one that JSON has no form for is left out: `string | Stream` is a text.
function readMember(work: Work, member: ts.Type, count: number): Reading | undefined {
  if (count === 1) return work.read(member)
  try {
    return work.read(member)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    work.note('narrowed', `${work.checker.typeToString(member)} is left out: ${error.message}`)
    return undefined
  }
}

function readMembersOrThrow(work: Work, members: readonly ts.Type[]): Reading {
  return work.read(members[0]!)
}

/** One schema for several alternatives, as short as it can be said. */
export function joinSchemas(given: readonly JsonSchema[]): JsonSchema {
  const schemas = unique(
    given.flatMap((schema) =>
      isOnly(schema, 'anyOf') ? (schema['anyOf'] as JsonSchema[]) : [schema],
    ),
  )
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return {}
  const literals = schemas
    .filter((schema) => isOnly(schema, 'const'))
    .map((schema) => schema['const'])
  const others = schemas.filter((schema) => !isOnly(schema, 'const') && !isCovered(schema, schemas))
  const choices: JsonSchema[] =
    literals.length === 0
      ? []
      : [
          literals.length === 1 && others.length === 0
            ? { const: literals[0] }
            : { ...typeOf(literals), enum: literals },
        ]
  const all = [...choices, ...others].sort(
    (left, right) => Number(left['type'] === 'null') - Number(right['type'] === 'null'),
  )
  return all.length === 1 ? all[0]! : { anyOf: all }
}

function typeOf(literals: readonly unknown[]): JsonSchema {
  return literals.every((literal) => typeof literal === 'string')
    ? { type: 'string' }
    : literals.every((literal) => typeof literal === 'number')
      ? { type: 'number' }
      : {}
}

// A text of a certain form is nothing new where every text is allowed.
function isCovered(schema: JsonSchema, all: readonly JsonSchema[]): boolean {
  return (
    Object.keys(schema).length > 1 &&
    all.some(
      (other) =>
        isOnly(other, 'type') &&
        other['type'] === schema['type'] &&
        ['string', 'number'].includes(String(other['type'])),
    )
  )
}

function isOnly(schema: JsonSchema, keyword: string): boolean {
  return isObject(schema) && Object.keys(schema).length === 1 && Object.hasOwn(schema, keyword)
}

function unique(schemas: readonly JsonSchema[]): readonly JsonSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}
