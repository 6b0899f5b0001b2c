/**
 * Unions, literals and enums as JSON Schema, and one conversion for several alternatives.
 */

import type ts from 'typescript'
import type { JsonSchema } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type {
  Conversion,
  FunctionManifest,
  FunctionParameter,
  ObjectConversion,
} from '../manifest.ts'
import type { TypeReadContext, TypeReading } from './reader.ts'
import { UnreadableTypeError } from './reader.ts'

/**
 * Reads a union: literals become an enumeration, `undefined` makes it optional, everything else are
 * alternatives.
 */
export function readUnion(work: TypeReadContext, type: ts.UnionType): TypeReading {
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
    if (member === 'boolean') return [{ schema: { type: 'boolean' } } satisfies TypeReading]
    if (named.some((each) => each === member))
      return member === named[0] ? [readEnumNumbers(named)] : []
    const reading = readUnionMember(work, member, members.length)
    return reading ? [reading] : []
  })
  if (readings.length === 0)
    return present.length === 0 ? { schema: { type: 'null' }, ...optional } : work.read(present[0]!)
  const schema = joinSchemas(readings.map((reading) => reading.schema))
  const description = named.length === 0 ? describeEnumMembers(work, type) : {}
  return {
    schema: { ...schema, ...description },
    ...compact({ convert: mergeConversions(readings) }),
    ...optional,
  }
}

// The numbers of an enum say nothing without their names.
function describeEnumMembers({ ts }: TypeReadContext, type: ts.UnionType): JsonSchema {
  if (!(type.flags & ts.TypeFlags.EnumLike)) return {}
  const members = type.types.flatMap((member) =>
    member.isNumberLiteral() ? [`${member.value}: ${member.symbol.name}`] : [],
  )
  return members.length > 0 ? { description: members.join(', ') } : {}
}

// `boolean` comes as `false | true`.
function foldBooleans(
  work: TypeReadContext,
  members: readonly ts.Type[],
): readonly (ts.Type | 'boolean')[] {
  const literals = members.filter((member) => member.flags & work.ts.TypeFlags.BooleanLiteral)
  if (!literals.some((literal) => isTrueType(work, literal)) || literals.length < 2) return members
  return members
    .filter((member) => member === literals[0] || !literals.includes(member))
    .map((member) => (member === literals[0] ? 'boolean' : member))
}

// Of several ways to give a value, one that JSON has no form for is left out: `string | Stream` is
// a text.
function readUnionMember(
  work: TypeReadContext,
  member: ts.Type,
  count: number,
): TypeReading | undefined {
  if (count === 1) return work.read(member)
  try {
    return work.read(member)
  } catch (error) {
    if (!(error instanceof UnreadableTypeError)) throw error
    work.note('narrowed', `${work.checker.typeToString(member)} is left out: ${error.message}`)
    return undefined
  }
}

/** One schema for several alternatives, as short as it can be said. */
function joinSchemas(given: readonly JsonSchema[]): JsonSchema {
  const schemas = dedupeSchemas(
    given.flatMap((schema) =>
      hasOnlyKeyword(schema, 'anyOf') ? (schema['anyOf'] as JsonSchema[]) : [schema],
    ),
  )
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return {}
  const literals = schemas
    .filter((schema) => hasOnlyKeyword(schema, 'const'))
    .map((schema) => schema['const'])
  const others = schemas.filter(
    (schema) => !hasOnlyKeyword(schema, 'const') && !isCovered(schema, schemas),
  )
  const choices: JsonSchema[] =
    literals.length === 0
      ? []
      : [
          literals.length === 1 && others.length === 0
            ? { const: literals[0] }
            : { ...getLiteralType(literals), enum: literals },
        ]
  const all = [...choices, ...others].sort(
    (left, right) => Number(left['type'] === 'null') - Number(right['type'] === 'null'),
  )
  return all.length === 1 ? all[0]! : { anyOf: all }
}

function getLiteralType(literals: readonly unknown[]): JsonSchema {
  const type = ['string', 'number'].find((name) => literals.every((each) => typeof each === name))
  return compact({ type })
}

// A text of a certain form is nothing new where every text is allowed.
function isCovered(schema: JsonSchema, all: readonly JsonSchema[]): boolean {
  return (
    Object.keys(schema).length > 1 &&
    all.some(
      (other) =>
        hasOnlyKeyword(other, 'type') &&
        other['type'] === schema['type'] &&
        ['string', 'number'].includes(String(other['type'])),
    )
  )
}

function hasOnlyKeyword(schema: JsonSchema, keyword: string): boolean {
  return isObject(schema) && Object.keys(schema).length === 1 && Object.hasOwn(schema, keyword)
}

function dedupeSchemas(schemas: readonly JsonSchema[]): readonly JsonSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
}

/**
 * One conversion for several alternatives. Where a kind of JSON can mean two things, the one that
 * leaves it alone wins: it is what the caller wrote.
 */
function mergeConversions(readings: readonly TypeReading[]): Conversion | undefined {
  if (!readings.some(({ convert }) => convert)) return undefined
  if (readings.length === 1) return readings[0]!.convert
  const taking = (kind: string): readonly TypeReading[] =>
    readings.filter(
      ({ schema, convert }) => convert?.ref === undefined && listJsonKinds(schema).has(kind),
    )
  const texts = taking('string').filter(
    ({ schema, convert }) => !convert?.names && (convert || listLiterals(schema) === undefined),
  )
  const text = getCommonValue(texts.map(({ convert }) => convert?.text))
  const names = mergeNames(readings, text !== undefined)
  const number = getCommonValue(taking('number').map(({ convert }) => convert?.number))
  const list = getCommonValue(taking('array').map(({ convert }) => convert?.list))
  const object = mergeObjects(taking('object'))
  // A recursive type that is one of several stands for itself where nothing else is an object or a
  // list.
  const ref = readings.find(({ convert }) => convert?.ref !== undefined)?.convert?.ref
  if (ref !== undefined && !names && !text && !number && !list && !object) return { ref }
  const merged: Conversion = compact({ names, text, number, list, object })
  return Object.keys(merged).length > 0 ? merged : undefined
}

// Names of numbers stay names only where no other alternative takes the same text as it is. Where
// other texts are converted, literals have to be told apart from them.
function mergeNames(
  readings: readonly TypeReading[],
  isTextConverted: boolean,
): Conversion['names'] {
  const others = readings
    .filter(
      ({ schema, convert }) =>
        !convert?.names && !convert?.text && listJsonKinds(schema).has('string'),
    )
    .map(({ schema }) => listLiterals(schema))
  const names = readings
    .flatMap(({ convert }) => Object.entries(convert?.names ?? {}))
    .filter(([name]) => others.every((texts) => texts?.includes(name) === false))
  const literals = isTextConverted
    ? others
        .flatMap((texts) => texts ?? [])
        .filter((text) => typeof text === 'string')
        .map((text): [string, string] => [text, text])
    : []
  return names.length + literals.length > 0
    ? Object.fromEntries([...names, ...literals])
    : undefined
}

// The values that a schema names; undefined where it takes others too.
function listLiterals(schema: JsonSchema): readonly unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  return Array.isArray(schema['enum']) ? (schema['enum'] as readonly unknown[]) : undefined
}

// The one conversion that all of them want; undefined where one of them wants none.
function getCommonValue<T>(wanted: readonly (T | undefined)[]): T | undefined {
  const [first] = wanted
  return first !== undefined &&
    wanted.every((other) => JSON.stringify(other) === JSON.stringify(first))
    ? first
    : undefined
}

function mergeObjects(readings: readonly TypeReading[]): ObjectConversion | undefined {
  const same = getCommonValue(readings.map(({ convert }) => convert?.object))
  if (same || !readings.some(({ convert }) => convert?.object)) return same
  const property = findDiscriminator(readings.map(({ schema }) => schema))
  if (property === undefined) return undefined
  return {
    variants: readings.map(({ schema, convert }) => ({
      property,
      values: listPropertyLiterals(schema, property)!,
      convert: convert?.object ?? {},
    })),
  }
}

function findDiscriminator(schemas: readonly JsonSchema[]): string | undefined {
  const [first] = schemas
  const properties = first && isObject(first['properties']) ? Object.keys(first['properties']) : []
  return properties.find((property) =>
    schemas.every((schema) => listPropertyLiterals(schema, property) !== undefined),
  )
}

type JsonLiteral = string | number | boolean | null

function listPropertyLiterals(
  schema: JsonSchema,
  property: string,
): readonly JsonLiteral[] | undefined {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const field = Object.hasOwn(properties, property) ? properties[property] : undefined
  return isObject(field) ? (listLiterals(field) as readonly JsonLiteral[] | undefined) : undefined
}

function listJsonKinds(schema: JsonSchema): ReadonlySet<string> {
  if (Array.isArray(schema['anyOf']))
    return new Set(
      (schema['anyOf'] as JsonSchema[]).flatMap((branch) => [...listJsonKinds(branch)]),
    )
  if (Object.hasOwn(schema, 'const')) return new Set([typeof schema['const']])
  if (Array.isArray(schema['enum']))
    return new Set((schema['enum'] as unknown[]).map((value) => typeof value))
  return typeof schema['type'] === 'string'
    ? new Set([schema['type'] === 'integer' ? 'number' : schema['type']])
    : new Set(['string', 'number', 'array', 'object'])
}

type ConversionTable = { readonly [name: string]: Conversion }

/**
 * The parameters without conversions that change nothing; the named ones only where they are
 * needed.
 */
export function keepEffectiveConversions(
  parameters: readonly FunctionParameter[],
  named: ConversionTable,
): Pick<FunctionManifest, 'parameters' | 'conversions'> {
  const changes = (
    convert: Conversion | undefined,
    seen: ReadonlySet<string> = new Set(),
  ): boolean => {
    if (!convert) return false
    if (convert.ref !== undefined)
      return !seen.has(convert.ref) && changes(named[convert.ref], new Set([...seen, convert.ref]))
    const { names, text, number, list, object } = convert
    return (
      names !== undefined ||
      text !== undefined ||
      number !== undefined ||
      (list !== undefined &&
        (list.to !== undefined ||
          changes(list.items, seen) ||
          (list.first ?? []).some((item) => changes(item ?? undefined, seen)))) ||
      (object !== undefined && objectChanges(object, seen))
    )
  }
  const objectChanges = (
    { to, fields = {}, values, variants = [] }: ObjectConversion,
    seen: ReadonlySet<string>,
  ): boolean =>
    to !== undefined ||
    Object.values(fields).some((field) => changes(field, seen)) ||
    changes(values, seen) ||
    variants.some((variant) => objectChanges(variant.convert, seen))
  const keep = <Part extends { readonly convert?: Conversion }>(part: Part): Part => {
    if (changes(part.convert)) return part
    const { convert: _nothing, ...rest } = part
    return rest as Part
  }
  const kept = parameters.map((parameter): FunctionParameter => {
    if (parameter.from === 'fields') return { ...parameter, fields: parameter.fields.map(keep) }
    return parameter.from === 'field' || parameter.from === 'rest' ? keep(parameter) : parameter
  })
  return compact({
    parameters: kept,
    conversions: /"ref":/.test(JSON.stringify(kept)) ? named : undefined,
  })
}

/** What stands for a whole number that no JSON number may be able to hold. */
const BIGINT_READING: TypeReading = {
  schema: { type: 'string', pattern: '^-?[0-9]+$' },
  convert: { text: 'bigint' },
}

/** Reads texts, numbers, booleans, literals, enums and `null`; undefined for every other type. */
export function readPrimitive(work: TypeReadContext, type: ts.Type): TypeReading | undefined {
  const { TypeFlags } = work.ts
  const { flags } = type
  if (work.direction === 'input' && isEnumNumber(work, type)) return readEnumNumbers([type])
  if (flags & TypeFlags.StringLiteral)
    return { schema: { const: (type as ts.StringLiteralType).value } }
  if (flags & TypeFlags.NumberLiteral)
    return { schema: { const: (type as ts.NumberLiteralType).value } }
  if (flags & TypeFlags.BooleanLiteral) return { schema: { const: isTrueType(work, type) } }
  if (flags & TypeFlags.BigIntLiteral) return readBigIntLiteral(type as ts.BigIntLiteralType)
  if (flags & TypeFlags.TemplateLiteral)
    return {
      schema: { type: 'string', pattern: `^${toPattern(work, type as ts.TemplateLiteralType)}$` },
    }
  if (flags & (TypeFlags.String | TypeFlags.StringMapping)) return { schema: { type: 'string' } }
  if (flags & (TypeFlags.Number | TypeFlags.Enum)) return { schema: { type: 'number' } }
  if (flags & TypeFlags.Boolean) return { schema: { type: 'boolean' } }
  if (flags & TypeFlags.BigInt) return BIGINT_READING
  if (flags & TypeFlags.Null) return { schema: { type: 'null' } }
  if (flags & TypeFlags.ESSymbolLike)
    throw new UnreadableTypeError(
      'symbol',
      'a symbol cannot be written as JSON',
      'Take a text instead',
    )
  return undefined
}

/** True for the type `true`, false for `false`. */
function isTrueType({ checker }: TypeReadContext, type: ts.Type): boolean {
  return checker.typeToString(type) === 'true'
}

function readBigIntLiteral({
  value: { negative, base10Value },
}: ts.BigIntLiteralType): TypeReading {
  return { schema: { const: `${negative ? '-' : ''}${base10Value}` }, convert: { text: 'bigint' } }
}

// `v${number}` is the pattern `v` followed by a number.
function toPattern(work: TypeReadContext, { texts, types }: ts.TemplateLiteralType): string {
  return texts
    .map(
      (text, index) =>
        escapeRegExp(text) + (index < types.length ? toHolePattern(work, types[index]!) : ''),
    )
    .join('')
}

function toHolePattern(work: TypeReadContext, type: ts.Type): string {
  const { TypeFlags } = work.ts
  if (type.isUnion())
    return `(?:${type.types.map((member) => toHolePattern(work, member)).join('|')})`
  if (type.isStringLiteral() || type.isNumberLiteral()) return escapeRegExp(String(type.value))
  if (type.flags & TypeFlags.TemplateLiteral) return toPattern(work, type as ts.TemplateLiteralType)
  if (type.flags & TypeFlags.Number) return '-?[0-9]+(?:\\.[0-9]+)?'
  if (type.flags & TypeFlags.BigInt) return '-?[0-9]+'
  if (type.flags & TypeFlags.BooleanLike) return '(?:true|false)'
  return '[\\s\\S]*'
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

/** True for a member of an enum whose value is a number that the compiler knows. */
function isEnumNumber(
  { ts }: Pick<TypeReadContext, 'ts'>,
  type: ts.Type,
): type is ts.NumberLiteralType {
  return (type.flags & ts.TypeFlags.EnumLiteral) !== 0 && type.isNumberLiteral()
}

/**
 * Reads numeric members of enums as an input: their names, which the function gets as numbers, and
 * the numbers themselves. A name that means two numbers is none.
 */
function readEnumNumbers(members: readonly ts.NumberLiteralType[]): TypeReading {
  const values = new Map(members.map(({ value, symbol }) => [value, symbol.name]))
  const isClear = (name: string, value: number): boolean =>
    members.every((other) => other.symbol.name !== name || other.value === value)
  const names = Object.fromEntries(
    members.flatMap(({ value, symbol: { name } }): [string, number][] =>
      isClear(name, value) ? [[name, value]] : [],
    ),
  )
  const numbers = {
    type: 'number',
    enum: [...values.keys()],
    'x-enum-varnames': [...values.values()],
  }
  return Object.keys(names).length === 0
    ? { schema: numbers }
    : {
        schema: { anyOf: [{ type: 'string', enum: Object.keys(names) }, numbers] },
        convert: { names },
      }
}
