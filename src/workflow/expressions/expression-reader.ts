import { expressionFault } from './expression-fault.ts'
import type { Comparison, Expression, PathExpression } from './syntax.ts'

const LONGEST = 4000
const DEEPEST = 50
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
// Names of steps may begin with a digit and have dashes; there is no minus that they could be taken for.
const KEY = /[A-Za-z0-9_-]+/y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const INDEX = /\d{1,9}(?![\d.eE])/y
const COMPARISON = /==|!=|<=|>=|<|>/y
const BLANK = /[ \t\r\n]*/y
const ESCAPES: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
}
const WORDS: { readonly [word: string]: boolean | null } = { true: true, false: false, null: null }
const VALUE = "a name, a number, a text in quotes, '!' or '('"

/** Reads one expression from a place in a text, by going down its grammar. Throws INVALID_INPUT that says where it could not go on. */
export class ExpressionReader {
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

  // One comparison, not a chain: what `1 < 2 < 3` means surprises whoever wrote it.
  private equality(): Expression {
    const left = this.unary()
    this.skip()
    const at = this.at
    const operator = this.take(COMPARISON)
    if (operator === undefined) return left
    const compared: Expression = {
      kind: 'compare',
      operator: operator as Comparison,
      left,
      right: this.unary(),
      at,
    }
    this.skip()
    const next = this.at
    if (this.take(COMPARISON) !== undefined)
      throw expressionFault(
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
    const number = this.take(NUMBER)
    if (number !== undefined) return this.number(number, at)
    const name = this.take(NAME)
    if (name === undefined) throw this.fault(VALUE)
    if (Object.hasOwn(WORDS, name)) return { kind: 'literal', value: WORDS[name]!, at }
    return this.path(name, at)
  }

  private number(digits: string, at: number): Expression {
    const value = Number(digits)
    if (!Number.isFinite(value) || /[A-Za-z0-9_.]/.test(this.text[this.at] ?? ''))
      throw expressionFault(this.text, at, 'a number')
    return { kind: 'literal', value, at }
  }

  private path(root: string, at: number): PathExpression {
    const keys: (string | number)[] = []
    for (;;) {
      const next = this.text[this.at]
      if (next === '.') {
        this.at += 1
        const key = this.take(KEY)
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
    const digits = this.take(INDEX)
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
    throw expressionFault(this.text, start, `a text that ends with ${quote}`)
  }

  private deeper<Result>(read: () => Result): Result {
    if (++this.depth > DEEPEST) throw this.fault(`at most ${DEEPEST} levels of parentheses and '!'`)
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
    this.take(BLANK)
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
    if (this.at - this.start > LONGEST)
      throw expressionFault(this.text, this.start, `at most ${LONGEST} characters`)
  }

  private fault(expected: string): Error {
    return expressionFault(this.text, this.at, expected)
  }
}
