/**
 * Parses expressions and templates (`${{ steps.scan.result[0] }}`) into syntax trees; results are
 * cached by text.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'

/**
 * An expression that was understood. `at` counts characters from 0 in the text that it stands in.
 */
export type Expression =
  | {
      readonly kind: 'literal'
      readonly value: string | number | boolean | null
      readonly at: number
    }
  | PathExpression
  | { readonly kind: 'not'; readonly of: Expression; readonly at: number }
  | {
      readonly kind: 'and' | 'or'
      readonly left: Expression
      readonly right: Expression
      readonly at: number
    }
  | {
      readonly kind: 'compare'
      readonly operator: ComparisonOperator
      readonly left: Expression
      readonly right: Expression
      readonly at: number
    }

/** A name, and the keys that lead on from it: `steps.scan.result[0]`. */
export type PathExpression = {
  readonly kind: 'path'
  readonly root: string
  readonly keys: readonly (string | number)[]
  readonly at: number
}

export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>='

/** A text with expressions in it, in their order. */
export type ExpressionTemplate = readonly (string | Expression)[]

/** What an expression asks for: every path in it, in the order of the text. */
export function listReferences(expression: Expression): readonly PathExpression[] {
  switch (expression.kind) {
    case 'literal':
      return []
    case 'path':
      return [expression]
    case 'not':
      return listReferences(expression.of)
    default:
      return [...listReferences(expression.left), ...listReferences(expression.right)]
  }
}

/** The expressions of a template, without the texts between them. */
export function pickExpressions(parts: ExpressionTemplate): readonly Expression[] {
  return parts.filter((part) => typeof part === 'object')
}

/** The expressions in all texts of a value. */
export function listExpressions(value: unknown): readonly Expression[] {
  if (typeof value === 'string')
    return value.includes(EXPRESSION_OPEN) ? pickExpressions(parseTemplate(value)) : []
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(listExpressions)
}

const MAX_EXPRESSION_LENGTH = 4000
const MAX_EXPRESSION_DEPTH = 50
const NAME_TOKEN = /[A-Za-z_][A-Za-z0-9_]*/y
// Names of steps may begin with a digit and have dashes; there is no minus that they could be taken
// for.
const KEY_TOKEN = /[A-Za-z0-9_-]+/y
const NUMBER_TOKEN = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const INDEX_TOKEN = /\d{1,9}(?![\d.eE])/y
const COMPARISON_TOKEN = /==|!=|<=|>=|<|>/y
const BLANK_TOKEN = /[ \t\r\n]*/y
const ESCAPES: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
}
const LITERAL_WORDS: { readonly [word: string]: boolean | null } = {
  true: true,
  false: false,
  null: null,
}
const EXPECTED_VALUE = "a name, a number, a text in quotes, '!' or '('"

/**
 * A recursive descent parser for one expression in a text. Throws INVALID_INPUT with the place of
 * the problem.
 */
class ExpressionParser {
  private readonly text: string
  private readonly start: number
  private at: number
  private depth = 0

  constructor(text: string, start = 0) {
    this.text = text
    this.start = start
    this.at = start
  }

  /** The expression and where it ends; what follows, blanks aside, is for the caller to judge. */
  read(): { readonly expression: Expression; readonly end: number } {
    const expression = this.or()
    this.skip()
    return { expression, end: this.at }
  }

  private or(): Expression {
    let left = this.and()
    for (let at = this.sign('||'); at !== undefined; at = this.sign('||'))
      left = { kind: 'or', left, right: this.and(), at }
    return left
  }

  private and(): Expression {
    let left = this.equality()
    for (let at = this.sign('&&'); at !== undefined; at = this.sign('&&'))
      left = { kind: 'and', left, right: this.equality(), at }
    return left
  }

  // One comparison, not a chain: `1 < 2 < 3` rarely means what it seems to.
  private equality(): Expression {
    const left = this.unary()
    this.skip()
    const at = this.at
    const operator = this.take(COMPARISON_TOKEN)
    if (operator === undefined) return left
    const compared: Expression = {
      kind: 'compare',
      operator: operator as ComparisonOperator,
      left,
      right: this.unary(),
      at,
    }
    this.skip()
    const next = this.at
    if (this.take(COMPARISON_TOKEN) !== undefined)
      throw createExpressionError(
        this.text,
        next,
        "'&&', '||' or the end: a comparison has two sides (put one in parentheses)",
      )
    return compared
  }

  private unary(): Expression {
    const at = this.sign('!')
    if (at === undefined) return this.primary()
    return this.deeper(() => ({ kind: 'not', of: this.unary(), at }))
  }

  private primary(): Expression {
    this.skip()
    const at = this.at
    const first = this.text[at]
    if (first === '(') {
      this.at += 1
      const inside = this.deeper(() => this.or())
      if (this.sign(')') === undefined) throw this.fault("')'")
      return inside
    }
    if (first === "'" || first === '"') return { kind: 'literal', value: this.quoted(), at }
    const number = this.take(NUMBER_TOKEN)
    if (number !== undefined) return this.number(number, at)
    const name = this.take(NAME_TOKEN)
    if (name === undefined) throw this.fault(EXPECTED_VALUE)
    if (Object.hasOwn(LITERAL_WORDS, name))
      return { kind: 'literal', value: LITERAL_WORDS[name]!, at }
    return this.path(name, at)
  }

  private number(digits: string, at: number): Expression {
    const value = Number(digits)
    if (!Number.isFinite(value) || /[A-Za-z0-9_.]/.test(this.text[this.at] ?? ''))
      throw createExpressionError(this.text, at, 'a number')
    return { kind: 'literal', value, at }
  }

  private path(root: string, at: number): PathExpression {
    const keys: (string | number)[] = []
    for (;;) {
      const next = this.text[this.at]
      if (next === '.') {
        this.at += 1
        const key = this.take(KEY_TOKEN)
        if (key === undefined) throw this.fault('a key')
        keys.push(key)
      } else if (next === '[') {
        this.at += 1
        keys.push(this.index())
        if (this.sign(']') === undefined) throw this.fault("']'")
      } else return { kind: 'path', root, keys, at }
      this.checkLength()
    }
  }

  private index(): string | number {
    this.skip()
    const first = this.text[this.at]
    if (first === "'" || first === '"') return this.quoted()
    const digits = this.take(INDEX_TOKEN)
    if (digits === undefined) throw this.fault('a position from 0 or a key in quotes')
    return Number(digits)
  }

  private quoted(): string {
    const start = this.at
    const quote = this.text[this.at]!
    let value = ''
    for (this.at += 1; this.at < this.text.length; this.at += 1) {
      const character = this.text[this.at]!
      if (character === quote) {
        this.at += 1
        return value
      }
      if (character !== '\\') value += character
      else {
        this.at += 1
        const escaped = this.text[this.at] ?? ''
        if (!Object.hasOwn(ESCAPES, escaped)) throw this.fault('one of \\\\ \\\' \\" \\n \\r \\t')
        value += ESCAPES[escaped]!
      }
      this.checkLength()
    }
    throw createExpressionError(this.text, start, `a text that ends with ${quote}`)
  }

  private deeper<Result>(read: () => Result): Result {
    if (++this.depth > MAX_EXPRESSION_DEPTH)
      throw this.fault(`at most ${MAX_EXPRESSION_DEPTH} levels of parentheses and '!'`)
    const result = read()
    this.depth -= 1
    return result
  }

  // The place of a sign that is next, or undefined.
  private sign(sign: string): number | undefined {
    this.skip()
    if (!this.text.startsWith(sign, this.at)) return undefined
    const at = this.at
    this.at += sign.length
    this.checkLength()
    return at
  }

  private skip(): void {
    this.take(BLANK_TOKEN)
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found === undefined) return undefined
    this.at += found.length
    this.checkLength()
    return found
  }

  private checkLength(): void {
    if (this.at - this.start > MAX_EXPRESSION_LENGTH)
      throw createExpressionError(
        this.text,
        this.start,
        `at most ${MAX_EXPRESSION_LENGTH} characters`,
      )
  }

  private fault(expected: string): Error {
    return createExpressionError(this.text, this.at, expected)
  }
}

/**
 * An expression that cannot be read: what was expected, what is there, and at which character (from
 * 1).
 */
function createExpressionError(text: string, at: number, expected: string): ToolError {
  const found =
    at >= text.length ? 'the text ends' : `found ${JSON.stringify(shorten(text.slice(at), 20))}`
  return new ToolError(
    'INVALID_INPUT',
    `the expression ${JSON.stringify(shorten(text, 100))} cannot be read: at character ${at + 1} ${found}; expected ${expected}`,
    {
      details: { position: at + 1 },
      suggestion:
        'Write names and keys (steps.scan.result[0].path), texts in quotes, numbers, true, false, null, == != < <= > >= && || ! and parentheses',
    },
  )
}

/**
 * Reads a text that is one expression, without `${{ }}` around it. Throws INVALID_INPUT with the
 * place for anything else.
 */
export const parseExpression: (text: string) => Expression = cacheByText((text) => {
  const { expression, end } = new ExpressionParser(text).read()
  if (end < text.length)
    throw createExpressionError(text, end, "'.', '[', a comparison, '&&', '||' or the end")
  return expression
})

/** What opens an expression in a text. */
export const EXPRESSION_OPEN = '${{'
const EXPRESSION_CLOSE = '}}'

/**
 * Cuts a text into what stands there and what is put in. Throws INVALID_INPUT with the place for an
 * expression that cannot be read.
 */
export const parseTemplate: (text: string) => ExpressionTemplate = cacheByText((text) => {
  const parts: (string | Expression)[] = []
  let from = 0
  for (
    let open = text.indexOf(EXPRESSION_OPEN);
    open !== -1;
    open = text.indexOf(EXPRESSION_OPEN, from)
  ) {
    if (open > from) parts.push(text.slice(from, open))
    const { expression, end } = parsePlaceholder(text, open)
    parts.push(expression)
    from = end
  }
  if (from < text.length) parts.push(text.slice(from))
  return parts
})

/** The expression in the `${{ }}` that opens at a place, and where it ends. */
export function parsePlaceholder(
  text: string,
  open: number,
): { readonly expression: Expression; readonly end: number } {
  const { expression, end } = new ExpressionParser(text, open + EXPRESSION_OPEN.length).read()
  if (!text.startsWith(EXPRESSION_CLOSE, end))
    throw createExpressionError(text, end, "'}}', '.', '[', a comparison, '&&' or '||'")
  return { expression, end: end + EXPRESSION_CLOSE.length }
}

/**
 * Reads what stands after `when`: one expression, with `${{ }}` around all of it or without. Throws
 * INVALID_INPUT.
 */
export const parseCondition: (text: string) => Expression = cacheByText((text) => {
  if (!text.trimStart().startsWith(EXPRESSION_OPEN)) return parseExpression(text)
  const [expression, ...more] = parseTemplate(text.trim())
  // A text with something filled in would always be true.
  if (typeof expression !== 'object' || more.length > 0)
    throw new ToolError(
      'INVALID_INPUT',
      `the condition ${JSON.stringify(shorten(text, 100))} is only partly an expression`,
      { suggestion: 'Put all of it into one ${{ }}, or leave ${{ }} out' },
    )
  return expression
})

const MAX_CACHE_ENTRIES = 2000
const MAX_CACHED_TEXT_LENGTH = 1000

/**
 * Remembers what was made of a text. Texts of users come in any number, so the oldest are forgotten
 * and long ones are never kept.
 */
export function cacheByText<Value>(make: (text: string) => Value): (text: string) => Value {
  const made = new Map<string, Value>()
  return (text) => {
    const known = made.get(text)
    if (known !== undefined) return known
    const value = make(text)
    if (text.length > MAX_CACHED_TEXT_LENGTH) return value
    if (made.size >= MAX_CACHE_ENTRIES) made.delete(made.keys().next().value!)
    made.set(text, value)
    return value
  }
}
