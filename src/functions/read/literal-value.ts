import type ts from 'typescript'
import type { Conversion } from '../manifest.ts'
import type { Compiler } from './types/work.ts'

/** A value that stands literally in the source; undefined where only running it could tell. */
export type LiteralValue = { readonly value: unknown }

/** Reads literals, lists and objects of them, constants, members of enums, and dates that are written as text. */
export function literalValue(
  ts: Compiler,
  checker: ts.TypeChecker,
  node: ts.Expression,
  depth = 0,
): LiteralValue | undefined {
  if (depth > 8) return undefined
  const inner = (part: ts.Expression): LiteralValue | undefined =>
    literalValue(ts, checker, part, depth + 1)
  if (
    ts.isParenthesizedExpression(node) ||
    ts.isAsExpression(node) ||
    ts.isSatisfiesExpression(node)
  )
    return inner(node.expression)
  if (ts.isStringLiteralLike(node)) return { value: node.text }
  if (ts.isNumericLiteral(node)) return { value: Number(node.text) }
  if (ts.isBigIntLiteral(node)) return { value: BigInt(node.text.slice(0, -1)).toString() }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return { value: true }
  if (node.kind === ts.SyntaxKind.FalseKeyword) return { value: false }
  if (node.kind === ts.SyntaxKind.NullKeyword) return { value: null }
  if (ts.isRegularExpressionLiteral(node)) return { value: node.text }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken)
    return negate(inner(node.operand))
  if (ts.isBinaryExpression(node)) return calculate(ts, node, inner)
  if (ts.isArrayLiteralExpression(node)) return all(node.elements.map(inner))
  if (ts.isObjectLiteralExpression(node)) return readObject(ts, node, inner)
  if (ts.isNewExpression(node)) return readNew(ts, node, inner)
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
    const member = checker.getSymbolAtLocation(node)?.valueDeclaration
    const value = member && ts.isEnumMember(member) ? checker.getConstantValue(member) : undefined
    return value === undefined ? undefined : { value }
  }
  return ts.isIdentifier(node) ? readConstant(ts, checker, node, inner) : undefined
}

/** A default as the choices are shown: a number of an enum by its name. */
export function nameDefault(value: unknown, convert: Conversion | undefined): unknown {
  return Object.entries(convert?.names ?? {}).find(([, number]) => number === value)?.[0] ?? value
}

function negate(found: LiteralValue | undefined): LiteralValue | undefined {
  return typeof found?.value === 'number' ? { value: -found.value } : undefined
}

function calculate(
  ts: Compiler,
  node: ts.BinaryExpression,
  inner: (part: ts.Expression) => LiteralValue | undefined,
): LiteralValue | undefined {
  const left = inner(node.left)?.value
  const right = inner(node.right)?.value
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  const results: ReadonlyMap<ts.SyntaxKind, number> = new Map([
    [ts.SyntaxKind.PlusToken, left + right],
    [ts.SyntaxKind.MinusToken, left - right],
    [ts.SyntaxKind.AsteriskToken, left * right],
    [ts.SyntaxKind.SlashToken, left / right],
  ])
  const value = results.get(node.operatorToken.kind)
  return value === undefined ? undefined : { value }
}

function all(items: readonly (LiteralValue | undefined)[]): LiteralValue | undefined {
  return items.every((item) => item !== undefined)
    ? { value: items.map(({ value }) => value) }
    : undefined
}

function readObject(
  ts: Compiler,
  node: ts.ObjectLiteralExpression,
  inner: (part: ts.Expression) => LiteralValue | undefined,
): LiteralValue | undefined {
  const entries: [string, unknown][] = []
  for (const property of node.properties) {
    if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name))
      return undefined
    const found = inner(property.initializer)
    if (!found) return undefined
    entries.push([property.name.text, found.value])
  }
  return { value: Object.fromEntries(entries) }
}

// `new Set()` is the empty list, `new Date('2026-01-01')` that text: the same as a caller would write.
function readNew(
  ts: Compiler,
  { expression, arguments: args = [] as unknown as ts.NodeArray<ts.Expression> }: ts.NewExpression,
  inner: (part: ts.Expression) => LiteralValue | undefined,
): LiteralValue | undefined {
  const name = ts.isIdentifier(expression) ? expression.text : ''
  const first = args[0] && inner(args[0])
  if (
    ['Date', 'URL', 'RegExp'].includes(name) &&
    args.length === 1 &&
    typeof first?.value === 'string'
  )
    return first
  if (name === 'Set')
    return args.length === 0 ? { value: [] } : Array.isArray(first?.value) ? first : undefined
  return name === 'Map' && args.length === 0 ? { value: {} } : undefined
}

function readConstant(
  ts: Compiler,
  checker: ts.TypeChecker,
  node: ts.Identifier,
  inner: (part: ts.Expression) => LiteralValue | undefined,
): LiteralValue | undefined {
  const found = checker.getSymbolAtLocation(node)
  const symbol =
    found && found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found
  const declaration = symbol?.valueDeclaration
  if (!declaration || !ts.isVariableDeclaration(declaration) || !declaration.initializer)
    return undefined
  return ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const
    ? inner(declaration.initializer)
    : undefined
}
