/**
 * Evaluates expressions, and fills templates and commands from the scope of a step. A command is
 * split into words like in a shell, before values are filled in, so that a value never becomes two
 * words.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import type { StepError } from './engine.ts'
import type {
  ComparisonOperator,
  Expression,
  ExpressionTemplate,
  PathExpression,
} from './expression-parser.ts'
import {
  cacheByText,
  EXPRESSION_OPEN,
  parseCondition,
  parsePlaceholder,
  parseTemplate,
} from './expression-parser.ts'

/**
 * What an expression sees of an earlier step. A skipped one, and one that failed and was allowed
 * to, has the result null.
 */
export type StepRecord = {
  readonly status: 'ok' | 'failed' | 'skipped'
  readonly result: unknown
  readonly error: StepError | null
  /** The run of its tool, where it has one. */
  readonly run_id?: string
  /** Of a `parallel` or `each` that went on after failures: the error of each part, or null. */
  readonly errors?: readonly (StepError | null)[]
}

/** The names that expressions may use: `input`, `steps`, and what `each` calls its items. */
export type ExpressionScope = {
  readonly input: unknown
  readonly steps: { readonly [name: string]: StepRecord }
  /** `workflow.id` and `workflow.name`. */
  readonly workflow: { readonly id: string; readonly name: string }
  /** Items of the `each` steps around, by their names, and `<name>_index`. */
  readonly items: { readonly [name: string]: unknown }
}

/**
 * The value of an expression; missing values are null. Throws INVALID_INPUT for an unknown name,
 * and for a comparison of values without an order.
 */
export function evaluateExpression(expression: Expression, scope: ExpressionScope): unknown {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'path':
      return resolvePath(expression, scope)
    case 'not':
      return !isTruthy(evaluateExpression(expression.of, scope))
    case 'and': {
      const left = evaluateExpression(expression.left, scope)
      return isTruthy(left) ? evaluateExpression(expression.right, scope) : left
    }
    case 'or': {
      const left = evaluateExpression(expression.left, scope)
      return isTruthy(left) ? left : evaluateExpression(expression.right, scope)
    }
    case 'compare':
      return compareValues(
        expression.operator,
        evaluateExpression(expression.left, scope),
        evaluateExpression(expression.right, scope),
      )
  }
}

/** Everything is true except null, false, 0 and the empty text. */
function isTruthy(value: unknown): boolean {
  return Boolean(value)
}

const SCOPE_ROOTS = ['input', 'steps', 'workflow'] as const

function resolvePath({ root, keys }: PathExpression, scope: ExpressionScope): unknown {
  let value = getRoot(root, scope)
  for (const key of keys) {
    value = getMember(value, key)
    if (value === null) return null
  }
  return value ?? null
}

function getRoot(root: string, scope: ExpressionScope): unknown {
  const known = SCOPE_ROOTS.find((name) => name === root)
  if (known) return scope[known]
  if (Object.hasOwn(scope.items, root)) return scope.items[root]
  throw new ToolError('INVALID_INPUT', `nothing is called '${shorten(root, 60)}' here`, {
    suggestion: `The names are ${[...SCOPE_ROOTS, ...Object.keys(scope.items)].join(', ')}; texts stand in quotes`,
  })
}

// Own keys only: inherited ones are not part of a result.
function getMember(value: unknown, key: string | number): unknown {
  if (typeof value === 'string') return key === 'length' ? value.length : null
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
  return (value as { readonly [key: string | number]: unknown })[key] ?? null
}

function compareValues(operator: ComparisonOperator, left: unknown, right: unknown): boolean {
  if (operator === '==') return isEqualJson(left, right)
  if (operator === '!=') return !isEqualJson(left, right)
  if (!(
    (typeof left === 'number' && typeof right === 'number') ||
    (typeof left === 'string' && typeof right === 'string')
  )) {
    throw new ToolError(
      'INVALID_INPUT',
      `${describeType(left)} and ${describeType(right)} have no order: '${operator}' compares two numbers or two texts`,
      {
        suggestion:
          'Compare values of one kind, and ask first whether they are there: x != null && x > 1',
      },
    )
  }
  switch (operator) {
    case '<':
      return left < right
    case '<=':
      return left <= right
    case '>':
      return left > right
    case '>=':
      return left >= right
  }
}

function describeType(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'a list'
  return (
    { object: 'an object', string: 'a text', number: 'a number', boolean: 'true or false' }[
      typeof value as string
    ] ?? typeof value
  )
}

/**
 * A copy of a JSON value with the values of its expressions. A text that is one expression becomes
 * its value; in others, texts are joined. Keys stay as they are, and values are not interpolated
 * again. Throws INVALID_INPUT.
 */
export function interpolate(value: unknown, scope: ExpressionScope): unknown {
  return mapJsonStrings(value, (text) =>
    text.includes(EXPRESSION_OPEN) ? interpolateText(text, scope) : text,
  )
}

function interpolateText(text: string, scope: ExpressionScope): unknown {
  const parts = parseTemplate(text)
  const [only] = parts
  // A tool that changes its input must not change the record.
  if (parts.length === 1 && typeof only === 'object')
    return mapJsonStrings(evaluateExpression(only, scope), (found) => found)
  return parts
    .map((part) =>
      typeof part === 'string' ? part : toInterpolatedText(evaluateExpression(part, scope)),
    )
    .join('')
}

/** A value inside a text: null is nothing, lists and objects are JSON. */
export function toInterpolatedText(value: unknown): string {
  if (value === null || value === undefined) return ''
  // Copied first, because that is refused for a value without end, and this would end in a stack
  // overflow.
  return typeof value === 'object'
    ? JSON.stringify(mapJsonStrings(value, (text) => text))
    : String(value)
}

/**
 * Whether a condition is true. null, false, 0 and the empty text are not. Throws INVALID_INPUT for
 * a condition that cannot be read or compared.
 */
export function isConditionTrue(condition: string, scope: ExpressionScope): boolean {
  return isTruthy(evaluateExpression(parseCondition(condition), scope))
}

const MAX_COPY_DEPTH = 500

/**
 * A copy of a JSON value with every text in it changed. Throws INVALID_INPUT for one that is nested
 * without end.
 */
export function mapJsonStrings(
  value: unknown,
  onText: (text: string) => unknown,
  depth = 0,
): unknown {
  if (typeof value === 'string') return onText(value)
  if (typeof value !== 'object' || value === null) return value ?? null
  if (depth > MAX_COPY_DEPTH)
    throw new ToolError('INVALID_INPUT', `the value has more than ${MAX_COPY_DEPTH} levels`)
  if (Array.isArray(value)) return value.map((item) => mapJsonStrings(item, onText, depth + 1))
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(value)) {
    const inside = mapJsonStrings(value[key as never], onText, depth + 1)
    // An assignment would set the prototype.
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: inside,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    else copy[key] = inside
  }
  return copy
}

const MAX_COMPARE_DEPTH = 500

/** Whether two values are the same JSON: the order of keys does not count, that of lists does. */
function isEqualJson(left: unknown, right: unknown, depth = 0): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
    return (left ?? null) === (right ?? null)
  if (depth > MAX_COMPARE_DEPTH)
    throw new ToolError(
      'INVALID_INPUT',
      `values with more than ${MAX_COMPARE_DEPTH} levels cannot be compared`,
    )
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) && isEqualJson(left[key as never], right[key as never], depth + 1),
  )
}

const BLANK_CHARACTERS = new Set([' ', '\t', '\n', '\r'])
// A prefix of commands in folders with a starter; here every tool is known by its name.
const TOOL_STARTER = './tool'

/**
 * The words of a command, as a shell splits them: quotes and backslashes, and nothing else that a
 * shell does. `${{ }}` is one piece wherever it stands.
 * Throws INVALID_INPUT for quotes that are not closed, and where nothing is named.
 */
export const splitCommand: (command: string) => readonly ExpressionTemplate[] = cacheByText(
  (command) => {
    const words = splitWords(command)
    const named = words[0]?.length === 1 && words[0][0] === TOOL_STARTER ? words.slice(1) : words
    if (named.length === 0 || named[0]!.length === 0)
      throw createCommandError(command, 'names no tool', 'Begin with the name of a tool')
    return named
  },
)

function splitWords(command: string): ExpressionTemplate[] {
  const words: ExpressionTemplate[] = []
  let word: (string | Expression)[] | undefined
  let quote: '"' | "'" | undefined
  const add = (text: string): void => {
    word ??= []
    const last = word.at(-1)
    if (typeof last === 'string') word[word.length - 1] = last + text
    else if (text !== '') word.push(text)
  }
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at]!
    if (command.startsWith(EXPRESSION_OPEN, at)) {
      const { expression, end } = parsePlaceholder(command, at)
      ;(word ??= []).push(expression)
      at = end - 1
    } else if (character === quote) quote = undefined
    else if (quote === "'") add(character)
    else if (character === '\\') {
      const next = command[at + 1]
      if (next === undefined)
        throw createCommandError(command, 'ends with a backslash', 'Write \\\\ for a backslash')
      at += 1
      // In double quotes a backslash is literal unless it escapes something; a line that ends with
      // one continues.
      if (next === '\n') continue
      add(quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next)
    } else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character
      add('')
    } else if (quote === undefined && BLANK_CHARACTERS.has(character)) {
      if (word) words.push(word)
      word = undefined
    } else add(character)
  }
  if (quote !== undefined)
    throw createCommandError(
      command,
      `has a ${quote} that is not closed`,
      `Close it, or write \\${quote}`,
    )
  if (word) words.push(word)
  return words
}

function createCommandError(command: string, what: string, fix: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `the command ${JSON.stringify(shorten(command, 100))} ${what}`,
    { suggestion: fix },
  )
}

/**
 * The words of a command with its values filled in, the tool first. A value never becomes two
 * words. Throws INVALID_INPUT for null, and for a command that cannot be split.
 */
export function interpolateCommand(command: string, scope: ExpressionScope): string[] {
  return splitCommand(command).map((word) =>
    word
      .map((part) => (typeof part === 'string' ? part : toArgumentText(part, command, scope)))
      .join(''),
  )
}

function toArgumentText(expression: Expression, command: string, scope: ExpressionScope): string {
  const value = evaluateExpression(expression, scope)
  if (value === null || value === undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `${describeExpression(expression)} in the command ${JSON.stringify(shorten(command, 100))} is null`,
      {
        suggestion:
          "Run the step only when it is there (when), or give another value: ${{ x || 'y' }}",
      },
    )
  return toInterpolatedText(value)
}

function describeExpression(expression: Expression): string {
  return expression.kind === 'path'
    ? `'${shorten([expression.root, ...expression.keys].join('.'), 100)}'`
    : 'a value'
}
