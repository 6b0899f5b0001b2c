import type ts from 'typescript'
import type { Conversion } from '../../manifest.ts'
import type { Reading, Work } from './work.ts'

/** Reads arrays and tuples; undefined for every other type. */
export function readList(work: Work, type: ts.Type): Reading | undefined {
  const { checker } = work
  if (checker.isTupleType(type)) return readTuple(work, type as ts.TupleTypeReference)
  if (!checker.isArrayType(type)) return undefined
  const [item] = checker.getTypeArguments(type as ts.TypeReference)
  const { schema, convert } = item ? readItem(work, item) : { schema: {}, convert: undefined }
  return {
    schema: { type: 'array', items: schema },
    ...(convert && { convert: { list: { items: convert } } }),
  }
}

function readTuple(work: Work, type: ts.TupleTypeReference): Reading {
  const { ElementFlags } = work.ts
  const { elementFlags } = type.target
  const items = work.checker.getTypeArguments(type).map((item) => readItem(work, item))
  const restAt = elementFlags.findIndex((flags) => (flags & ElementFlags.Variable) !== 0)
  const first = restAt === -1 ? items : items.slice(0, restAt)
  const rest = restAt === -1 ? undefined : items[restAt]!
  const required = elementFlags.filter((flags) => (flags & ElementFlags.Required) !== 0).length
  // What follows a rest element cannot be said in place; it is one of the items all the same.
  const behind = restAt === -1 ? [] : items.slice(restAt + 1)
  const others = rest && [rest, ...behind].map(({ schema }) => schema)
  const schema = {
    type: 'array',
    ...(first.length > 0 && { prefixItems: first.map((item) => item.schema) }),
    ...(others
      ? { items: others.length === 1 ? others[0] : { anyOf: others } }
      : { maxItems: first.length }),
    ...(required > 0 && { minItems: required }),
  }
  const converts = first.some(({ convert }) => convert) || rest?.convert
  const convert: Conversion = {
    list: {
      first: first.map((item) => item.convert ?? null),
      ...(rest?.convert && { items: rest.convert }),
    },
  }
  return { schema, ...(converts && { convert }) }
}

// JSON has no `undefined` in lists: it comes out as null.
function readItem(work: Work, type: ts.Type): Reading {
  const { schema, convert, optional } = work.read(type)
  const nullable =
    optional && work.direction === 'output' ? { anyOf: [schema, { type: 'null' }] } : schema
  return { schema: nullable, ...(convert && { convert }) }
}
