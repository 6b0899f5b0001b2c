import type ts from 'typescript'
import type { JsonSchema } from '../../../contract/json.ts'
import type { Conversion } from '../../manifest.ts'
import { isHidden } from '../reader.ts'
import { builtinName } from './builtins.ts'
import { Unreadable } from './work.ts'
import type { Reading, Work } from './work.ts'

/** One property of an object type that JSON has a form for. */
export type Property = {
  readonly name: string
  readonly schema: JsonSchema
  readonly convert?: Conversion
  readonly required: boolean
}

/** Reads a type with properties. Optional ones that JSON has no form for are left out; a required one makes the whole type unreadable. */
export function readObject(work: Work, type: ts.Type): Reading {
  refuseClass(work, type)
  const toJson = work.direction === 'output' ? readToJson(work, type) : undefined
  if (toJson) return toJson
  const properties = readProperties(work, type)
  const values = readIndex(work, type)
  const fields = Object.fromEntries(
    properties.flatMap(({ name, convert }): [string, Conversion][] =>
      convert ? [[name, convert]] : [],
    ),
  )
  const required = properties.filter((property) => property.required).map(({ name }) => name)
  if (properties.length === 0 && !values)
    return {
      schema:
        work.checker.getPropertiesOfType(type).length === 0
          ? {}
          : { type: 'object', ...(work.direction === 'input' && { properties: {} }) },
    }
  const convert: Conversion = {
    object: {
      ...(Object.keys(fields).length > 0 && { fields }),
      ...(values?.convert && { values: values.convert }),
    },
  }
  return {
    schema: {
      type: 'object',
      ...(properties.length > 0 && {
        properties: Object.fromEntries(properties.map(({ name, schema }) => [name, schema])),
      }),
      ...(required.length > 0 && { required }),
      // A value may always have more properties than its type says; only a caller has to know what he gives.
      ...(values
        ? { additionalProperties: values.schema }
        : work.direction === 'output'
          ? { additionalProperties: true }
          : {}),
    },
    ...(Object.keys(convert.object!).length > 0 && { convert }),
  }
}

/** The properties of an object type, in the order in which they are written. */
export function readProperties(work: Work, type: ts.Type): readonly Property[] {
  return work.checker.getPropertiesOfType(type).flatMap((symbol) => {
    const property = readProperty(work, symbol)
    return property ? [property] : []
  })
}

function readProperty(work: Work, symbol: ts.Symbol): Property | undefined {
  const { ts, checker } = work
  // Symbols and private names are no names of JSON.
  if (symbol.name.startsWith('__@') || isHidden(work, symbol)) return undefined
  const type = checker.getTypeOfSymbolAtLocation(symbol, work.at)
  const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0
  if (work.direction === 'output' && isFunction(work, type)) return undefined
  // The signal of the call is given where the object is made; nobody can write one.
  if (isSignal(work, type)) return undefined
  try {
    const { schema, convert, optional } = work.read(type)
    const required = !isOptional && !optional
    const described = work.describe(symbol, schema)
    if (Object.hasOwn(described, 'not')) return undefined
    return {
      name: symbol.name,
      schema: described,
      required: required && !Object.hasOwn(described, 'default'),
      ...(convert && { convert }),
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    if (!isOptional && !includesUndefined(work, type))
      throw new Unreadable(error.reason, `${symbol.name}: ${error.message}`, error.fix)
    work.note('left-out', `the property '${symbol.name}' is left out: ${error.message}`)
    return undefined
  }
}

/** True for the type of a signal that ends work. */
export function isSignal(work: Pick<Work, 'program' | 'checker'>, type: ts.Type): boolean {
  return builtinName(work, work.checker.getNonNullableType(type)) === 'AbortSignal'
}

function readIndex(work: Work, type: ts.Type): Reading | undefined {
  const { checker } = work
  const index = checker
    .getIndexInfosOfType(type)
    .find(
      ({ keyType }) =>
        keyType.flags &
        (work.ts.TypeFlags.String | work.ts.TypeFlags.Number | work.ts.TypeFlags.TemplateLiteral),
    )
  return index && work.read(index.type)
}

function isFunction({ checker }: Work, type: ts.Type): boolean {
  return checker.getNonNullableType(type).getCallSignatures().length > 0
}

function includesUndefined({ ts }: Work, type: ts.Type): boolean {
  return type.isUnion() && type.types.some(({ flags }) => flags & ts.TypeFlags.Undefined)
}

// What has methods needs them: a plain object in its place would fail somewhere inside.
function refuseClass(work: Work, type: ts.Type): void {
  if (work.direction === 'output' || !((type.getSymbol()?.flags ?? 0) & work.ts.SymbolFlags.Class))
    return
  const needs = work.checker
    .getPropertiesOfType(type)
    .find(
      (symbol) =>
        isHidden(work, symbol) ||
        isFunction(work, work.checker.getTypeOfSymbolAtLocation(symbol, work.at)),
    )
  const name = work.checker.typeToString(type)
  if (needs)
    throw new Unreadable(
      'class',
      `an object of the class ${name} cannot be written as JSON`,
      'Take plain data, and make the object inside',
    )
}

// As JSON writes it.
function readToJson(work: Work, type: ts.Type): Reading | undefined {
  const method = type.getProperty('toJSON')
  const [signature] = method
    ? work.checker.getTypeOfSymbolAtLocation(method, work.at).getCallSignatures()
    : []
  return signature && work.read(signature.getReturnType())
}
