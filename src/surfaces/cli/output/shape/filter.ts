import { isObject } from '../../../../contract/json.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import { valuesAt } from './field-path.ts'

type Operator = '=' | '!=' | '~=' | '>' | '>=' | '<' | '<='

/** One condition of `--filter`. */
export type Filter = { readonly key: string; readonly operator: Operator; readonly wanted: string }

/** Reads `key=value`, also with `!=`, `~=` (contains), `>`, `>=`, `<`, `<=` (numbers); throws INVALID_INPUT for anything else. */
export function parseFilter(text: string): Filter {
  const match = /^([^=!~<>]+)(!=|~=|>=|<=|==|=|>|<)(.*)$/s.exec(text)
  const key = match?.[1]?.trim()
  if (!match || !key) {
    throw new ToolError('INVALID_INPUT', `'${text}' is not a filter`, {
      field: 'filter',
      suggestion: 'Write key=value; other operators are != ~= > >= < <=',
    })
  }
  const operator = (match[2] === '==' ? '=' : match[2]) as Operator
  const wanted = (match[3] ?? '').trim()
  if (isComparison(operator) && toNumber(wanted) === undefined) {
    throw new ToolError(
      'INVALID_INPUT',
      `The filter '${text}' compares with '${wanted}', which is not a number`,
      { field: 'filter', suggestion: `Give a number after ${operator}, or use = != ~= for text` },
    )
  }
  return { key, operator, wanted }
}

/** Whether an item passes. A list passes when one of its elements does, and `!=` is the opposite of `=`; a scalar item answers to the key `value`. */
export function passesFilter(item: unknown, { key, operator, wanted }: Filter): boolean {
  const values = filterValues(item, key)
  if (operator === '!=') return !values.some((value) => isEqual(value, wanted))
  return values.some((value) => CHECKS[operator](value, wanted))
}

/** The values of an item that a filter key names; none when the item lacks it. */
export function filterValues(item: unknown, key: string): unknown[] {
  return isObject(item) ? valuesAt(item, key) : key === 'value' ? [item].flat() : []
}

const CHECKS: {
  readonly [operator in Exclude<Operator, '!='>]: (value: unknown, wanted: string) => boolean
} = {
  '=': isEqual,
  '~=': (value, wanted) => toText(value).includes(wanted),
  '>': (value, wanted) => compare(value, wanted, (a, b) => a > b),
  '>=': (value, wanted) => compare(value, wanted, (a, b) => a >= b),
  '<': (value, wanted) => compare(value, wanted, (a, b) => a < b),
  '<=': (value, wanted) => compare(value, wanted, (a, b) => a <= b),
}

function isComparison(operator: Operator): boolean {
  return operator.startsWith('>') || operator.startsWith('<')
}

function isEqual(value: unknown, wanted: string): boolean {
  return typeof value === 'number' ? value === toNumber(wanted) : toText(value) === wanted
}

function compare(
  value: unknown,
  wanted: string,
  check: (a: number, b: number) => boolean,
): boolean {
  const left = toNumber(value)
  const right = toNumber(wanted)
  return left !== undefined && right !== undefined && check(left, right)
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const number = Number(value)
  return Number.isNaN(number) ? undefined : number
}

function toText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
