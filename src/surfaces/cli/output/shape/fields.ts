import { isObject } from '../../../../contract/json.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { hasPath, listPaths, nearestPath } from './field-path.ts'
import type { FoundList } from './find-list.ts'

/** Keeps the named fields of every object; throws INVALID_INPUT for a field that no item has. */
export function selectFields(items: readonly unknown[], fields: readonly string[]): unknown[] {
  const objects = items.filter(isObject)
  for (const field of fields)
    if (objects.length > 0 && !hasPath(objects, field)) throw unknownField(field, objects)
  const wanted = toFieldTree(fields, objects)
  return items.map((item) => (isObject(item) ? project(item, wanted) : item))
}

/**
 * Keeps the named fields of an object that carries one list: a name that the items have means the items, any other a property beside the list.
 * Properties beside it stay when only fields of the items were named.
 */
export function selectAround(
  result: Record<string, unknown>,
  list: FoundList,
  fields: readonly string[],
): unknown {
  const key = list.key ?? ''
  const ofItems = fields.filter((field) => hasPath(list.items, field))
  const ofObject = fields.filter((field) => !ofItems.includes(field))
  for (const field of ofObject)
    if (!hasPath(result, field)) throw unknownField(field, [...list.items.slice(0, 100), result])
  if (ofItems.length === 0) return selectFields([result], ofObject)[0]
  const items = selectFields(list.items, ofItems)
  if (ofObject.length === 0) return list.replace(items)
  const beside = selectFields([result], ofObject)[0] as Record<string, unknown>
  return Object.fromEntries([
    ...Object.entries(beside).filter(([name]) => name !== key),
    [key, items],
  ])
}

type FieldTree = Map<string, FieldTree | 'whole'>

function toFieldTree(
  fields: readonly string[],
  objects: readonly Record<string, unknown>[],
): FieldTree {
  const root: FieldTree = new Map()
  for (const field of fields) {
    const literal = objects.some((item) => Object.hasOwn(item, field))
    addPath(root, literal ? [field] : field.split('.'))
  }
  return root
}

function addPath(tree: FieldTree, [head = '', ...rest]: readonly string[]): void {
  const present = tree.get(head)
  if (present === 'whole') return
  if (rest.length === 0) {
    tree.set(head, 'whole')
    return
  }
  const inner: FieldTree = present ?? new Map()
  tree.set(head, inner)
  addPath(inner, rest)
}

function project(value: unknown, wanted: FieldTree): unknown {
  if (value === null) return null
  if (Array.isArray(value))
    return value.map((item) => project(item, wanted)).filter((item) => item !== undefined)
  if (!isObject(value)) return undefined
  const kept: [string, unknown][] = []
  for (const [key, inner] of wanted) {
    if (!Object.hasOwn(value, key)) continue
    const selected = inner === 'whole' ? value[key] : project(value[key], inner)
    if (selected !== undefined) kept.push([key, selected])
  }
  return Object.fromEntries(kept)
}

function unknownField(field: string, values: readonly unknown[]): ToolError {
  const known = listPaths(values)
  const nearest = nearestPath(field, values)
  return new ToolError(
    'INVALID_INPUT',
    `The result has no field '${field}'${nearest === undefined ? '' : `, did you mean '${nearest}'?`}`,
    {
      field: 'fields',
      suggestion:
        nearest === undefined
          ? `Choose among: ${known.slice(0, 20).join(', ')}`
          : `Use --fields ${nearest}`,
      // The tool has done its work already; whoever repairs the flag should know that calling again does it again.
      details: { known_fields: known.slice(0, 20), call_succeeded: true },
    },
  )
}
