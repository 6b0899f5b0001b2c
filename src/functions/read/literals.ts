/**
 * Values that are written in source text: defaults, and the examples of a comment.
 */

import type ts from 'typescript'
import { toLookupKey } from '../../core/call.ts'
import { parseInputWords } from '../../define/input-from-words.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { describeIssues } from '../../define/schema/issues.ts'
import type { Example } from '../../protocol/manifest.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact } from '../../util/values.ts'
import type { Conversion, FunctionManifest, FunctionParameter } from '../manifest.ts'
import type { ModuleReader, TypeScriptCompiler } from './reader.ts'
import { resolveAlias } from './reader.ts'

/** A value that stands literally in the source; undefined where only running it could tell. */
export type LiteralValue = { readonly value: unknown }

/**
 * Reads literals, lists and objects of them, constants, members of enums, and dates that are
 * written as text.
 */
export function readLiteralValue(
  reader: LiteralReader,
  node: ts.Expression,
  depth = 0,
): LiteralValue | undefined {
  if (depth > 8) return undefined
  const { ts, checker } = reader
  const inner: ReadInner = (part) => readLiteralValue(reader, part, depth + 1)
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
  if (ts.isBinaryExpression(node)) return evaluateBinary(ts, node, inner)
  if (ts.isArrayLiteralExpression(node)) return combineItems(node.elements.map(inner))
  if (ts.isObjectLiteralExpression(node)) return readObjectLiteral(ts, node, inner)
  if (ts.isNewExpression(node)) return readNewExpression(ts, node, inner)
  if (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
    const member = checker.getSymbolAtLocation(node)?.valueDeclaration
    const value = member && ts.isEnumMember(member) ? checker.getConstantValue(member) : undefined
    return value === undefined ? undefined : { value }
  }
  return ts.isIdentifier(node) ? readConstant(reader, node, inner) : undefined
}

type LiteralReader = Pick<ModuleReader, 'ts' | 'checker'>
type ReadInner = (part: ts.Expression) => LiteralValue | undefined

/** A default as the choices are shown: a number of an enum by its name. */
export function toShownDefault(value: unknown, convert: Conversion | undefined): unknown {
  return Object.entries(convert?.names ?? {}).find(([, number]) => number === value)?.[0] ?? value
}

function negate(found: LiteralValue | undefined): LiteralValue | undefined {
  return typeof found?.value === 'number' ? { value: -found.value } : undefined
}

function evaluateBinary(
  { SyntaxKind }: TypeScriptCompiler,
  node: ts.BinaryExpression,
  inner: ReadInner,
): LiteralValue | undefined {
  const left = inner(node.left)?.value
  const right = inner(node.right)?.value
  if (typeof left !== 'number' || typeof right !== 'number') return undefined
  switch (node.operatorToken.kind) {
    case SyntaxKind.PlusToken:
      return { value: left + right }
    case SyntaxKind.MinusToken:
      return { value: left - right }
    case SyntaxKind.AsteriskToken:
      return { value: left * right }
    case SyntaxKind.SlashToken:
      return { value: left / right }
    default:
      return undefined
  }
}

function combineItems(items: readonly (LiteralValue | undefined)[]): LiteralValue | undefined {
  return items.every((item) => item !== undefined)
    ? { value: items.map(({ value }) => value) }
    : undefined
}

function readObjectLiteral(
  ts: TypeScriptCompiler,
  node: ts.ObjectLiteralExpression,
  inner: ReadInner,
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

// `new Set()` is the empty list, `new Date('2026-01-01')` that text: the same as a caller would
// write.
function readNewExpression(
  ts: TypeScriptCompiler,
  { expression, arguments: given }: ts.NewExpression,
  inner: ReadInner,
): LiteralValue | undefined {
  const args = given ?? []
  const name = ts.isIdentifier(expression) ? expression.text : ''
  const first = args[0] && inner(args[0])
  if (
    ['Date', 'URL', 'RegExp'].includes(name) &&
    args.length === 1 &&
    typeof first?.value === 'string'
  )
    return first
  if (name === 'Set' && Array.isArray(first?.value)) return first
  if (args.length > 0) return undefined
  if (name === 'Set') return { value: [] }
  return name === 'Map' ? { value: {} } : undefined
}

function readConstant(
  { ts, checker }: LiteralReader,
  node: ts.Identifier,
  inner: ReadInner,
): LiteralValue | undefined {
  const found = checker.getSymbolAtLocation(node)
  const symbol = found && resolveAlias({ ts, checker }, found)
  const declaration = symbol?.valueDeclaration
  if (!declaration || !ts.isVariableDeclaration(declaration) || !declaration.initializer)
    return undefined
  return ts.getCombinedNodeFlags(declaration) & ts.NodeFlags.Const
    ? inner(declaration.initializer)
    : undefined
}

type ExampleSubject = Pick<
  FunctionManifest,
  'name' | 'export' | 'input' | 'positional' | 'flags' | 'parameters'
>

/**
 * Reads examples: a command line, or a call in code. Returns inputs that the tool takes, and what
 * is wrong with the others. Code that is no plain call of the function is only documentation.
 */
export async function readExamples(
  reader: LiteralReader,
  subject: ExampleSubject,
  written: readonly string[],
): Promise<{ readonly examples: readonly Example[]; readonly problems: readonly string[] }> {
  const schema = compileSchema(subject.input, 'input')
  const examples: Example[] = []
  const problems: string[] = []
  for (const text of written) {
    const { caption, language, code } = splitExample(text)
    try {
      const input = isCommandExample(language, code, subject)
        ? readCommandExample(subject, code)
        : readCallExample(reader, subject, code)
      if (!input) continue
      const checked = await schema.check(input)
      if (checked.ok)
        examples.push({ ...compact({ description: caption !== '' ? caption : undefined }), input })
      else
        problems.push(
          `the example '${getFirstLine(code)}' does not fit: ${describeIssues(checked.issues)}`,
        )
    } catch (error) {
      problems.push(
        `the example '${getFirstLine(code)}' cannot be read: ${(error as Error).message}`,
      )
    }
  }
  return { examples, problems }
}

function splitExample(text: string): {
  readonly caption: string
  readonly language: string
  readonly code: string
} {
  const fenced = /^([\s\S]*?)```([\w-]*)[^\n]*\n([\s\S]*?)```/.exec(text)
  if (fenced)
    return { caption: toOneLine(fenced[1]!), language: fenced[2]!, code: fenced[3]!.trim() }
  const captioned = /^<caption>([\s\S]*?)<\/caption>\s*([\s\S]*)$/.exec(text)
  const code = (captioned ? captioned[2]! : text).trim()
  const comment = /^\/\/\s*(.+?):?\n([\s\S]+)$/.exec(code)
  return {
    caption: toOneLine(captioned?.[1] ?? comment?.[1] ?? ''),
    language: '',
    code: comment ? comment[2]!.trim() : code,
  }
}

function isCommandExample(language: string, code: string, { name }: ExampleSubject): boolean {
  if (/^(sh|bash|shell|console|zsh|terminal)$/.test(language)) return true
  if (language !== '') return false
  const [first = ''] = code.replace(/^\$\s*/, '').split(/\s/, 1)
  return toLookupKey(first) === toLookupKey(name) || /^(npx|toolable|\.{1,2}\/)/.test(first)
}

// `toolable ./tools.ts find-files '*.ts'`: what stands behind the name of the tool.
function readCommandExample(subject: ExampleSubject, code: string): JsonObject {
  const words = splitShellWords(getFirstLine(code).replace(/^\$\s*/, ''))
  const at = words.findIndex((word) => toLookupKey(word) === toLookupKey(subject.name))
  const args = at === -1 ? words.slice(1) : words.slice(at + 1)
  return {
    ...parseInputWords(
      { inputSchema: subject.input, flags: subject.flags, positional: subject.positional },
      args,
      {},
    ),
  }
}

function readCallExample(
  reader: LiteralReader,
  subject: ExampleSubject,
  code: string,
): JsonObject | undefined {
  const { ts } = reader
  const file = ts.createSourceFile('example.ts', code, ts.ScriptTarget.Latest, true)
  const call = findCall(ts, file, subject.export.split('.').at(-1)!)
  const values = call?.arguments.map((argument) => readLiteralValue(reader, argument))
  return values?.every((value) => value !== undefined)
    ? argumentsToInput(
        subject.parameters,
        values.map(({ value }) => value),
      )
    : undefined
}

function findCall(
  ts: TypeScriptCompiler,
  node: ts.Node,
  name: string,
): ts.CallExpression | undefined {
  if (ts.isCallExpression(node) && node.expression.getText().split('.').at(-1) === name) return node
  return ts.forEachChild(node, (child) => findCall(ts, child, name))
}

function argumentsToInput(
  parameters: readonly FunctionParameter[],
  values: readonly unknown[],
): JsonObject {
  const input: { [field: string]: unknown } = {}
  for (const [index, parameter] of parameters.entries()) {
    const value = values[index]
    if (value === undefined && index >= values.length) break
    if (parameter.from === 'field') input[parameter.field] = value
    else if (parameter.from === 'rest') input[parameter.field] = values.slice(index)
    else if (parameter.from === 'fields')
      for (const { property, field } of parameter.fields)
        if (Object.hasOwn(Object(value) as object, property))
          input[field] = (value as JsonObject)[property]
  }
  return input
}

function getFirstLine(code: string): string {
  return (
    code
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '' && !line.startsWith('#')) ?? ''
  )
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(/:$/, '')
}

/**
 * The words of a command line as a shell would split it; quotes hold words together, and a
 * backslash takes the next letter as it is.
 */
function splitShellWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]!
    if (quote !== undefined) {
      if (letter === quote) quote = undefined
      else
        word +=
          letter === '\\' && quote === '"' && /["\\$`]/.test(line[at + 1] ?? '')
            ? line[++at]!
            : letter
    } else if (letter === "'" || letter === '"') {
      quote = letter
      word ??= ''
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + (letter === '\\' ? (line[++at] ?? '') : letter)
  }
  if (quote !== undefined) throw new Error(`a quote ${quote} is not closed`)
  return word === undefined ? words : [...words, word]
}
