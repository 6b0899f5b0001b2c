/**
 * Finds lists, fields and matching items in a result.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { findClosest } from '../util/text.ts'
import { isObject } from '../util/values.ts'

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
export function parseFilter(text: string): ResultFilter {
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
export function matchesFilter(item: unknown, { key, operator, wanted }: ResultFilter): boolean {
  const values = getFilterValues(item, key)
  if (operator === '!=') return !values.some((value) => isEqualTo(value, wanted))
  return values.some((value) => OPERATOR_CHECKS[operator](value, wanted))
}

/** The values of an item that a filter key names; none when the item lacks it. */
export function getFilterValues(item: unknown, key: string): unknown[] {
  return isObject(item) ? getValuesAt(item, key) : key === 'value' ? [item].flat() : []
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
export function hasPath(value: unknown, path: string): boolean {
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
export function listPaths(values: readonly unknown[]): string[] {
  const paths = new Set<string>()
  for (const value of values.slice(0, 100)) collectPaths(value, '', 0, paths)
  return [...paths]
}

/** The path that was probably meant, among those of the values. */
export function findNearestPath(path: string, values: readonly unknown[]): string | undefined {
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
export type ResultList = {
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
