import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { equalJson } from './equal-json.ts'
import type { Scope } from './scope-type.ts'
import type { Comparison, Expression, PathExpression } from './syntax.ts'

/** The value of an expression. What is not there is null. Throws INVALID_INPUT for a name that nobody knows, and for an order of things that have none. */
export function evaluate(expression: Expression, scope: Scope): unknown {
  switch (expression.kind) {
    case 'literal':
      return expression.value
    case 'path':
      return follow(expression, scope)
    case 'not':
      return !isTruthy(evaluate(expression.of, scope))
    case 'and': {
      const left = evaluate(expression.left, scope)
      return isTruthy(left) ? evaluate(expression.right, scope) : left
    }
    case 'or': {
      const left = evaluate(expression.left, scope)
      return isTruthy(left) ? left : evaluate(expression.right, scope)
    }
    case 'compare':
      return compare(
        expression.operator,
        evaluate(expression.left, scope),
        evaluate(expression.right, scope),
      )
  }
}

/** What counts as true: all but null, false, 0 and the empty text. */
export function isTruthy(value: unknown): boolean {
  return Boolean(value)
}

const ROOTS = ['input', 'steps', 'workflow'] as const

function follow({ root, keys }: PathExpression, scope: Scope): unknown {
  let value = rootOf(root, scope)
  for (const key of keys) {
    value = member(value, key)
    if (value === null) return null
  }
  return value ?? null
}

function rootOf(root: string, scope: Scope): unknown {
  const known = ROOTS.find((name) => name === root)
  if (known) return scope[known]
  if (Object.hasOwn(scope.items, root)) return scope.items[root]
  throw new ToolError('INVALID_INPUT', `nothing is called '${shorten(root, 60)}' here`, {
    suggestion: `The names are ${[...ROOTS, ...Object.keys(scope.items)].join(', ')}; texts stand in quotes`,
  })
}

// Own keys alone: what a result inherits was written by nobody.
function member(value: unknown, key: string | number): unknown {
  if (typeof value === 'string') return key === 'length' ? value.length : null
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null
  return (value as { readonly [key: string | number]: unknown })[key] ?? null
}

function compare(operator: Comparison, left: unknown, right: unknown): boolean {
  if (operator === '==') return equalJson(left, right)
  if (operator === '!=') return !equalJson(left, right)
  if (!(
    (typeof left === 'number' && typeof right === 'number') ||
    (typeof left === 'string' && typeof right === 'string')
  )) {
    throw new ToolError(
      'INVALID_INPUT',
      `${nameKind(left)} and ${nameKind(right)} have no order: '${operator}' compares two numbers or two texts`,
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

function nameKind(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'a list'
  return (
    { object: 'an object', string: 'a text', number: 'a number', boolean: 'true or false' }[
      typeof value as string
    ] ?? typeof value
  )
}
