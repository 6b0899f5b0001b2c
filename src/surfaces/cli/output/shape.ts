import { isObject } from '../../../contract/json.ts'
import type { Outcome, OutcomeMeta } from '../../../contract/outcome.ts'
import { ToolError } from '../../../contract/tool-error.ts'
import { readCursor, writeCursor } from './shape/cursor.ts'
import { nearestPath } from './shape/field-path.ts'
import { selectAround, selectFields } from './shape/fields.ts'
import { filterValues, parseFilter, passesFilter } from './shape/filter.ts'
import { findList } from './shape/find-list.ts'

export type ShapeOptions = {
  readonly fields?: readonly string[] | undefined
  readonly filter?: readonly string[] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  /** Names the call (tool and input), so that a cursor works only for the call that gave it. */
  readonly callKey: string
}

/** Throws INVALID_INPUT for options that are wrong whatever the result is. Ask before the tool runs: afterwards its work is done. */
export function checkShapeOptions(options: ShapeOptions): void {
  const { limit } = options
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new ToolError('INVALID_INPUT', `The limit must be a whole number from 1, not ${limit}`, {
      field: 'limit',
      suggestion: 'Give --limit 1 or more, or leave it out',
    })
  }
  options.filter?.forEach(parseFilter)
  if (options.cursor !== undefined) readCursor(options.cursor, cursorKey(options))
}

/** Applies `--filter`, `--cursor`, `--limit` and `--fields`, in this order, to the list of a result. Failures pass untouched; what does not apply becomes a warning; wrong options become an INVALID_INPUT outcome. */
export function shapeOutcome(outcome: Outcome, options: ShapeOptions): Outcome {
  if (!outcome.ok) return outcome
  try {
    checkShapeOptions(options)
    const { result, meta } = selectShape(
      cutList({ result: outcome.result, meta: outcome.meta }, options),
      options,
    )
    return { ...outcome, result, meta }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { ok: false, status: 'error', error: error.toObject(), meta: outcome.meta }
  }
}

type Shaped = { readonly result: unknown; readonly meta: OutcomeMeta }

function cutList({ result, meta }: Shaped, options: ShapeOptions): Shaped {
  const used = (['filter', 'cursor', 'limit'] as const).filter((name) =>
    name === 'filter' ? (options.filter?.length ?? 0) > 0 : options[name] !== undefined,
  )
  if (used.length === 0) return { result, meta }
  const list = findList(result)
  if (!list)
    return {
      result,
      meta: warn(
        meta,
        `${used.map((name) => `--${name}`).join(', ')} had no effect: the result is not a list`,
      ),
    }
  const filters = (options.filter ?? []).map(parseFilter)
  const unknown = filters.filter(
    ({ key }) =>
      list.items.length > 0 && !list.items.some((item) => filterValues(item, key).length > 0),
  )
  const passed = list.items.filter((item) => filters.every((filter) => passesFilter(item, filter)))
  const start = options.cursor === undefined ? 0 : readCursor(options.cursor, cursorKey(options))
  const end = start + (options.limit ?? passed.length)
  const cut = {
    result: list.replace(passed.slice(start, end)),
    meta: warn(meta, ...unknown.map(({ key }) => unknownKey(key, list.items))),
  }
  if (end >= passed.length) return cut
  return {
    ...cut,
    meta: { ...cut.meta, truncated: true, next_cursor: writeCursor(end, cursorKey(options)) },
  }
}

function selectShape({ result, meta }: Shaped, options: ShapeOptions): Shaped {
  const fields = [
    ...new Set(
      (options.fields ?? []).flatMap((field) => field.split(',')).map((field) => field.trim()),
    ),
  ].filter((field) => field !== '')
  if (fields.length === 0) return { result, meta }
  const list = findList(result)
  if (list && isObject(result)) return { result: selectAround(result, list, fields), meta }
  if (isObject(result)) return { result: selectFields([result], fields)[0], meta }
  if (list && (list.items.length === 0 || list.items.some(isObject)))
    return { result: selectFields(list.items, fields), meta }
  return { result, meta: warn(meta, '--fields had no effect: the result has no fields') }
}

// An offset means nothing in a list that was filtered differently.
function cursorKey({ callKey, filter }: ShapeOptions): string {
  return filter && filter.length > 0 ? JSON.stringify([callKey, filter]) : callKey
}

function unknownKey(key: string, items: readonly unknown[]): string {
  const nearest = nearestPath(key, items)
  return `--filter: no item has the field '${key}'${nearest === undefined ? '' : `, did you mean '${nearest}'?`}`
}

function warn(meta: OutcomeMeta, ...warnings: readonly string[]): OutcomeMeta {
  return warnings.length === 0
    ? meta
    : { ...meta, warnings: [...(meta.warnings ?? []), ...warnings] }
}
