import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'

const MOST_STEPS = 20

/** A schema with its references followed and its `allOf` put together, so far as its own level goes; what is no schema object is one without demands. */
export function resolve(schema: unknown, root: JsonSchema, steps = 0): JsonSchema {
  if (!isObject(schema)) return {}
  const { $ref: reference, allOf: parts, ...own } = schema
  if (steps > MOST_STEPS) return own
  const target =
    typeof reference === 'string' ? resolve(followPointer(reference, root), root, steps + 1) : {}
  const all = Array.isArray(parts) ? parts.map((part) => resolve(part, root, steps + 1)) : []
  return [target, ...all, own].reduce(merge)
}

/** A schema without the null that it also allows, and whether it does. */
export function withoutNull(
  schema: JsonSchema,
  root: JsonSchema,
): { readonly schema: JsonSchema; readonly nullable: boolean } {
  const { type, enum: values } = schema
  if (Array.isArray(type) && type.includes('null')) {
    const others = type.filter((one) => one !== 'null') as unknown[]
    return {
      schema: {
        ...schema,
        type: others.length === 1 ? others[0] : others,
        ...(Array.isArray(values) && { enum: values.filter((one) => one !== null) as unknown[] }),
      },
      nullable: true,
    }
  }
  if (Array.isArray(values) && values.length > 1 && values.includes(null))
    return {
      schema: { ...schema, enum: values.filter((one) => one !== null) as unknown[] },
      nullable: true,
    }
  for (const keyword of ['anyOf', 'oneOf']) {
    const members = schema[keyword]
    if (!Array.isArray(members)) continue
    const others = members.filter((member) => !isNull(resolve(member, root))) as unknown[]
    if (others.length === members.length || others.length === 0) continue
    const { [keyword]: _, ...rest } = schema
    return {
      schema:
        others.length === 1
          ? merge(resolve(others[0], root), rest)
          : { ...rest, [keyword]: others },
      nullable: true,
    }
  }
  return { schema, nullable: false }
}

function isNull(schema: JsonSchema): boolean {
  return schema['type'] === 'null' || schema['const'] === null
}

function merge(base: JsonSchema, more: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...base, ...more }
  if (isObject(base['properties']) && isObject(more['properties']))
    merged['properties'] = { ...base['properties'], ...more['properties'] }
  if (Array.isArray(base['required']) && Array.isArray(more['required']))
    merged['required'] = [
      ...new Set([...(base['required'] as unknown[]), ...(more['required'] as unknown[])]),
    ]
  return merged
}

function followPointer(reference: string, root: JsonSchema): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((here, part) => {
      const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
      return typeof here === 'object' && here !== null && Object.hasOwn(here, key)
        ? (here as Record<string, unknown>)[key]
        : undefined
    }, root)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
