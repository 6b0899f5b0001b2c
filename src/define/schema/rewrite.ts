import type { JsonSchema } from '../../contract/json.ts'
import { collectActivePieces, schemasOfItem, schemasOfKey } from './pieces.ts'
import type { Lens } from './pieces.ts'
import type { AnySchema } from './subschemas.ts'
import type { Path } from './value-path.ts'

/** Gives the new value of one place; `pieces` are the schemas that apply there. The path is only lent: copy it to keep it. */
export type Rewrite = (pieces: readonly JsonSchema[], value: unknown, path: Path) => unknown

/** Walks a value along its schema and rewrites it from the top down. The given value is never changed; what stays the same is shared. */
export function rewriteAlong(
  lens: Lens,
  schema: JsonSchema,
  value: unknown,
  rewrite: Rewrite,
): unknown {
  const ancestors = new Set<unknown>()
  const path: (string | number)[] = []
  const enter = (key: string | number, schemas: readonly AnySchema[], given: unknown): unknown => {
    path.push(key)
    const result = visit(schemas, given)
    path.pop()
    return result
  }
  const visit = (schemas: readonly AnySchema[], given: unknown): unknown => {
    if (schemas.length === 0 || ancestors.has(given)) return given
    const pieces = collectActivePieces(lens, schemas, given)
    const here = rewrite(pieces, given, path)
    if (!isPlain(here)) return here
    ancestors.add(given)
    const result = Array.isArray(here)
      ? rewriteList(here, (item, index) => enter(index, schemasOfItem(pieces, index), item))
      : rewriteObject(here, (item, key) => enter(key, schemasOfKey(pieces, key), item))
    ancestors.delete(given)
    return result
  }
  return visit([schema], value)
}

/** True for lists and for objects without a class of their own. */
export function isPlain(value: unknown): value is Record<string, unknown> | unknown[] {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  // Objects of another realm (a vm, a frame) have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function rewriteList(
  list: unknown[],
  change: (item: unknown, index: number) => unknown,
): unknown[] {
  const changed = list.map(change)
  return changed.some((item, index) => item !== list[index]) ? changed : list
}

function rewriteObject(
  object: Record<string, unknown>,
  change: (item: unknown, key: string) => unknown,
): Record<string, unknown> {
  const entries = Object.entries(object)
  const changed = entries.map(([key, item]): [string, unknown] => [key, change(item, key)])
  return changed.some(([, item], index) => item !== entries[index]![1])
    ? Object.fromEntries(changed)
    : object
}
