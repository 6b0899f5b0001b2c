import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { resolved } from './pointers.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const
const MOST = 2000

/** One operation of a document. */
export type Operation = {
  /** Its `operationId`, else made of method and path; unique. */
  readonly name: string
  readonly method: (typeof METHODS)[number]
  readonly path: string
  readonly facts: JsonObject
  /** Those of the path and its own, references followed; its own win. */
  readonly parameters: readonly JsonObject[]
  readonly servers: unknown
}

/** The operations of a document, in its order. */
export function listOperations(document: JsonObject): readonly Operation[] {
  const paths = isObject(document['paths']) ? document['paths'] : {}
  const taken = new Set<string>()
  const found: Operation[] = []
  for (const [path, given] of Object.entries(paths)) {
    const item = path.startsWith('/') ? resolved(document, given) : undefined
    for (const method of item ? METHODS : []) {
      const facts = item && Object.hasOwn(item, method) ? item[method] : undefined
      if (!isObject(facts) || found.length >= MOST) continue
      const { operationId } = facts
      const wanted =
        typeof operationId === 'string' && operationId.trim() !== ''
          ? operationId
          : nameOf(method, path)
      found.push({
        name: freeName(wanted, taken),
        method,
        path,
        facts,
        parameters: merge(document, item!['parameters'], facts['parameters']),
        servers: facts['servers'] ?? item!['servers'],
      })
    }
  }
  return found
}

/** `GET /users/{id}/posts` is `get_users_by_id_posts`. */
function nameOf(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '')
    .map((part) =>
      part
        .replace(/\{([^}]*)\}/g, '_by_$1_')
        .replace(/[^A-Za-z0-9_]+/g, '_')
        .replace(/^_+|_+$/g, ''),
    )
  return [method, ...words].join('_').replace(/_{2,}/g, '_')
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}_${count}`
  taken.add(name)
  return name
}

function merge(document: JsonObject, shared: unknown, own: unknown): readonly JsonObject[] {
  const merged = new Map<string, JsonObject>()
  for (const given of [
    ...(Array.isArray(shared) ? shared : []),
    ...(Array.isArray(own) ? own : []),
  ] as readonly unknown[]) {
    const parameter = resolved(document, given)
    if (parameter && typeof parameter['name'] === 'string' && typeof parameter['in'] === 'string')
      merged.set(`${parameter['in']} ${parameter['name']}`, parameter)
  }
  return [...merged.values()]
}
