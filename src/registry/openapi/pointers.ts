import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'

const LONGEST_CHAIN = 20

/** What a local reference (`#/components/...`) points at; undefined for one that leads nowhere or out of the document. Remote ones are never fetched. */
export function lookUp(document: JsonObject, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let value: unknown = document
  for (const part of ref.slice(2).split('/')) {
    const key = decode(part)
    if (Array.isArray(value)) value = value[Number(key)]
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else return undefined
  }
  return value
}

/** An object of the document, its reference followed; undefined for what is none. */
export function resolved(document: JsonObject, value: unknown): JsonObject | undefined {
  let found = value
  for (let count = 0; count < LONGEST_CHAIN; count += 1) {
    if (!isObject(found)) return undefined
    const ref = Object.hasOwn(found, '$ref') ? found['$ref'] : undefined
    if (typeof ref !== 'string') return found
    found = lookUp(document, ref)
  }
  return undefined
}

function decode(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
