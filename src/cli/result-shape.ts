/**
 * Applies `--filter`, `--cursor`, `--limit` and `--fields` to a result. Loaded only when one of
 * them is given.
 */

import type { Outcome, OutcomeMeta } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { findClosest } from '../util/text.ts'
import { isObject } from '../util/values.ts'

export type ShapeOptions = {
  readonly fields?: readonly string[] | undefined
  readonly filter?: readonly string[] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  /** Names the call (tool and input), so that a cursor works only for the call that gave it. */
  readonly callKey: string
}

/**
 * Throws INVALID_INPUT for options that are wrong for any result. Call it before the tool runs:
 * afterwards its work is done.
 */
export function checkShapeOptions(options: ShapeOptions): void {
  const { limit } = options
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1)) {
    throw new ToolError('INVALID_INPUT', `The limit must be a whole number from 1, not ${limit}`, {
      field: 'limit',
      suggestion: 'Give --limit 1 or more, or leave it out',
    })
  }
  options.filter?.forEach(parseFilter)
  if (options.cursor !== undefined) decodeCursor(options.cursor, getCursorKey(options))
}

/**
 * Applies `--filter`, `--cursor`, `--limit` and `--fields`, in this order, to the list of a result.
 * Failures pass untouched; what does not apply becomes a warning; wrong options become an
 * INVALID_INPUT outcome.
 */
export function shapeOutcome(outcome: Outcome, options: ShapeOptions): Outcome {
  if (!outcome.ok) return outcome
  try {
    checkShapeOptions(options)
    const { result, meta } = selectResultFields(
      sliceList({ result: outcome.result, meta: outcome.meta }, options),
      options,
    )
    return { ...outcome, result, meta }
  } catch (error) {
    if (!ToolError.is(error)) throw error
    return { ok: false, status: 'error', error: error.toObject(), meta: outcome.meta }
  }
}

type ShapedResult = { readonly result: unknown; readonly meta: OutcomeMeta }

function sliceList({ result, meta }: ShapedResult, options: ShapeOptions): ShapedResult {
  const used = (['filter', 'cursor', 'limit'] as const).filter((name) =>
    name === 'filter' ? (options.filter?.length ?? 0) > 0 : options[name] !== undefined,
  )
  if (used.length === 0) return { result, meta }
  const list = findList(result)
  if (!list)
    return {
      result,
      meta: addWarnings(
        meta,
        `${used.map((name) => `--${name}`).join(', ')} had no effect: the result is not a list`,
      ),
    }
  const filters = (options.filter ?? []).map(parseFilter)
  const unknown = filters.filter(
    ({ key }) =>
      list.items.length > 0 && !list.items.some((item) => getFilterValues(item, key).length > 0),
  )
  const passed = list.items.filter((item) => filters.every((filter) => matchesFilter(item, filter)))
  const start =
    options.cursor === undefined ? 0 : decodeCursor(options.cursor, getCursorKey(options))
  const end = start + (options.limit ?? passed.length)
  const cut = {
    result: list.replace(passed.slice(start, end)),
    meta: addWarnings(meta, ...unknown.map(({ key }) => unknownKeyWarning(key, list.items))),
  }
  if (end >= passed.length) return cut
  return {
    ...cut,
    meta: { ...cut.meta, truncated: true, next_cursor: encodeCursor(end, getCursorKey(options)) },
  }
}

function selectResultFields({ result, meta }: ShapedResult, options: ShapeOptions): ShapedResult {
  const fields = [
    ...new Set(
      (options.fields ?? []).flatMap((field) => field.split(',')).map((field) => field.trim()),
    ),
  ].filter((field) => field !== '')
  if (fields.length === 0) return { result, meta }
  const list = findList(result)
  if (list && isObject(result)) return { result: selectAroundList(result, list, fields), meta }
  if (isObject(result)) return { result: selectFields([result], fields)[0], meta }
  if (list && (list.items.length === 0 || list.items.some(isObject)))
    return { result: selectFields(list.items, fields), meta }
  return { result, meta: addWarnings(meta, '--fields had no effect: the result has no fields') }
}

// An offset means nothing in a list that was filtered differently.
function getCursorKey({ callKey, filter }: ShapeOptions): string {
  return filter && filter.length > 0 ? JSON.stringify([callKey, filter]) : callKey
}

function unknownKeyWarning(key: string, items: readonly unknown[]): string {
  const nearest = findNearestPath(key, items)
  return `--filter: no item has the field '${key}'${nearest === undefined ? '' : `, did you mean '${nearest}'?`}`
}

function addWarnings(meta: OutcomeMeta, ...warnings: readonly string[]): OutcomeMeta {
  return warnings.length === 0
    ? meta
    : { ...meta, warnings: [...(meta.warnings ?? []), ...warnings] }
}

/** Keeps the named fields of every object; throws INVALID_INPUT for a field that no item has. */
function selectFields(items: readonly unknown[], fields: readonly string[]): unknown[] {
  const objects = items.filter(isObject)
  for (const field of fields)
    if (objects.length > 0 && !hasPath(objects, field)) throw unknownFieldError(field, objects)
  const wanted = toFieldTree(fields, objects)
  return items.map((item) => (isObject(item) ? projectFields(item, wanted) : item))
}

/**
 * Keeps the named fields of an object that carries one list: a name that the items have means the
 * items, any other a property beside the list.
 * Properties beside it stay when only fields of the items were named.
 */
function selectAroundList(
  result: Record<string, unknown>,
  list: ResultList,
  fields: readonly string[],
): unknown {
  const key = list.key ?? ''
  const ofItems = fields.filter((field) => hasPath(list.items, field))
  const ofObject = fields.filter((field) => !ofItems.includes(field))
  for (const field of ofObject)
    if (!hasPath(result, field))
      throw unknownFieldError(field, [...list.items.slice(0, 100), result])
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

function projectFields(value: unknown, wanted: FieldTree): unknown {
  if (value === null) return null
  if (Array.isArray(value))
    return value.map((item) => projectFields(item, wanted)).filter((item) => item !== undefined)
  if (!isObject(value)) return undefined
  const kept: [string, unknown][] = []
  for (const [key, inner] of wanted) {
    if (!Object.hasOwn(value, key)) continue
    const selected = inner === 'whole' ? value[key] : projectFields(value[key], inner)
    if (selected !== undefined) kept.push([key, selected])
  }
  return Object.fromEntries(kept)
}

function unknownFieldError(field: string, values: readonly unknown[]): ToolError {
  const known = listPaths(values)
  const nearest = findNearestPath(field, values)
  return new ToolError(
    'INVALID_INPUT',
    `The result has no field '${field}'${nearest === undefined ? '' : `, did you mean '${nearest}'?`}`,
    {
      field: 'fields',
      suggestion:
        nearest === undefined
          ? `Choose among: ${known.slice(0, 20).join(', ')}`
          : `Use --fields ${nearest}`,
      // The tool has done its work already; the caller should know that calling again repeats it.
      details: { known_fields: known.slice(0, 20), call_succeeded: true },
    },
  )
}

/** An opaque cursor that continues at `offset` of the call that `callKey` names. */
function encodeCursor(offset: number, callKey: string): string {
  return Buffer.from(JSON.stringify([offset, hashText(callKey)])).toString('base64url')
}

/** The offset of a cursor; throws INVALID_INPUT for garbage and for the cursor of another call. */
function decodeCursor(cursor: string, callKey: string): number {
  const offset = parseCursor(cursor)
  if (offset === undefined)
    throw new ToolError('INVALID_INPUT', 'The cursor cannot be read', {
      field: 'cursor',
      suggestion:
        'Use meta.next_cursor of the previous answer unchanged, or leave the cursor out to start again',
    })
  if (encodeCursor(offset, callKey) === cursor) return offset
  throw new ToolError('INVALID_INPUT', 'The cursor belongs to another call', {
    field: 'cursor',
    suggestion:
      'Repeat the input and the filters of the call that gave the cursor, or leave the cursor out to start again',
  })
}

function parseCursor(cursor: string): number | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (!Array.isArray(parsed) || parsed.length !== 2 || typeof parsed[1] !== 'string')
      return undefined
    return Number.isSafeInteger(parsed[0]) && parsed[0] > 0 ? (parsed[0] as number) : undefined
  } catch {
    return undefined
  }
}

// FNV-1a, 32 bits: it has to notice a mix-up, not an attack, and must not load node:crypto.
function hashText(text: string): string {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  return (value >>> 0).toString(36)
}

type FilterOperator = '=' | '!=' | '~=' | '>' | '>=' | '<' | '<='

/** One condition of `--filter`. */
type ResultFilter = {
  readonly key: string
  readonly operator: FilterOperator
  readonly wanted: string
}

/**
 * Reads `key=value`, also with `!=`, `~=` (contains), `>`, `>=`, `<`, `<=` (numbers); throws
 * INVALID_INPUT for anything else.
 */
function parseFilter(text: string): ResultFilter {
  const match = /^([^=!~<>]+)(!=|~=|>=|<=|==|=|>|<)(.*)$/s.exec(text)
  const key = match?.[1]?.trim()
  if (!match || !key) {
    throw new ToolError('INVALID_INPUT', `'${text}' is not a filter`, {
      field: 'filter',
      suggestion: 'Write key=value; other operators are != ~= > >= < <=',
    })
  }
  const operator = (match[2] === '==' ? '=' : match[2]) as FilterOperator
  const wanted = (match[3] ?? '').trim()
  if (isComparison(operator) && parseNumber(wanted) === undefined) {
    throw new ToolError(
      'INVALID_INPUT',
      `The filter '${text}' compares with '${wanted}', which is not a number`,
      { field: 'filter', suggestion: `Give a number after ${operator}, or use = != ~= for text` },
    )
  }
  return { key, operator, wanted }
}

/**
 * Whether an item passes. A list passes when one of its elements does, and `!=` is the opposite of
 * `=`; a scalar item answers to the key `value`.
 */
function matchesFilter(item: unknown, { key, operator, wanted }: ResultFilter): boolean {
  const values = getFilterValues(item, key)
  if (operator === '!=') return !values.some((value) => isEqualTo(value, wanted))
  return values.some((value) => OPERATOR_CHECKS[operator](value, wanted))
}

/** The values of an item that a filter key names; none when the item lacks it. */
function getFilterValues(item: unknown, key: string): unknown[] {
  if (isObject(item)) return getValuesAt(item, key)
  return key === 'value' ? [item].flat() : []
}

const OPERATOR_CHECKS: {
  readonly [operator in Exclude<FilterOperator, '!='>]: (value: unknown, wanted: string) => boolean
} = {
  '=': isEqualTo,
  '~=': (value, wanted) => toFilterText(value).includes(wanted),
  '>': (value, wanted) => compareNumbers(value, wanted, (a, b) => a > b),
  '>=': (value, wanted) => compareNumbers(value, wanted, (a, b) => a >= b),
  '<': (value, wanted) => compareNumbers(value, wanted, (a, b) => a < b),
  '<=': (value, wanted) => compareNumbers(value, wanted, (a, b) => a <= b),
}

function isComparison(operator: FilterOperator): boolean {
  return operator.startsWith('>') || operator.startsWith('<')
}

function isEqualTo(value: unknown, wanted: string): boolean {
  return typeof value === 'number' ? value === parseNumber(wanted) : toFilterText(value) === wanted
}

function compareNumbers(
  value: unknown,
  wanted: string,
  check: (a: number, b: number) => boolean,
): boolean {
  const left = parseNumber(value)
  const right = parseNumber(wanted)
  return left !== undefined && right !== undefined && check(left, right)
}

function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isNaN(number) ? undefined : number
}

function toFilterText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/**
 * All values at a dotted path. Lists on the way are walked through; a key that really contains the
 * dots wins.
 */
function getValuesAt(value: unknown, path: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => getValuesAt(item, path))
  if (!isObject(value)) return []
  if (Object.hasOwn(value, path)) return [value[path]].flat()
  const dot = path.indexOf('.')
  const head = path.slice(0, dot)
  return dot > 0 && Object.hasOwn(value, head) ? getValuesAt(value[head], path.slice(dot + 1)) : []
}

/** True when the path leads to something in the value, also to null or an empty list. */
function hasPath(value: unknown, path: string): boolean {
  if (Array.isArray(value)) return value.some((item) => hasPath(item, path))
  if (!isObject(value)) return false
  if (Object.hasOwn(value, path)) return true
  const dot = path.indexOf('.')
  const head = path.slice(0, dot)
  if (dot <= 0 || !Object.hasOwn(value, head)) return false
  const inner = value[head]
  // An empty list or null says nothing about what its items would have.
  return (
    inner === null ||
    (Array.isArray(inner) && inner.length === 0) ||
    hasPath(inner, path.slice(dot + 1))
  )
}

const MAX_PATHS = 200

/** Dotted paths that exist in some of the values, for suggestions: a sample, three levels deep. */
function listPaths(values: readonly unknown[]): string[] {
  const paths = new Set<string>()
  for (const value of values.slice(0, 100)) collectPaths(value, '', 0, paths)
  return [...paths]
}

/** The path that was probably meant, among those of the values. */
function findNearestPath(path: string, values: readonly unknown[]): string | undefined {
  const paths = listPaths(values)
  return findClosest(path, paths) ?? paths.find((known) => known.endsWith(`.${path}`))
}

function collectPaths(value: unknown, prefix: string, depth: number, paths: Set<string>): void {
  if (Array.isArray(value)) return collectPaths(value[0], prefix, depth, paths)
  if (!isObject(value) || depth > 2) return
  for (const key of Object.keys(value)) {
    if (paths.size >= MAX_PATHS) return
    paths.add(prefix + key)
    collectPaths(value[key], `${prefix}${key}.`, depth + 1, paths)
  }
}

/** A list inside a result, and the way to put a changed one in its place. */
type ResultList = {
  readonly items: readonly unknown[]
  readonly replace: (items: readonly unknown[]) => unknown
  readonly key?: string
}

/**
 * The list of a result: the result itself, or the only list among the properties of an object;
 * undefined for anything else.
 */
export function findList(result: unknown): ResultList | undefined {
  if (Array.isArray(result)) return { items: result, replace: (items) => items }
  if (!isObject(result)) return undefined
  const keys = Object.keys(result).filter((key) => Array.isArray(result[key]))
  const key = keys[0]
  if (key === undefined || keys.length > 1) return undefined
  return {
    items: result[key] as readonly unknown[],
    key,
    replace: (items) =>
      Object.fromEntries(
        Object.entries(result).map(([name, value]) => [name, name === key ? items : value]),
      ),
  }
}
