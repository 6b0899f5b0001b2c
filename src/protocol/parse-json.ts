/**
 * JSON from outside: parsed with the position of the first fault, because messages of Node differ
 * between versions.
 */

import { isObject } from '../util/values.ts'
import { ToolError } from './tool-error.ts'

/** Parsed JSON, or where and why the text broke. */
type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly message: string
      readonly position: number
      readonly found: string
    }

/** Parses JSON; the message of a failure says where it broke. Never throws. */
export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch {
    const position = findFaultPosition(text)
    const found =
      position >= text.length
        ? 'the text ends too early'
        : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(position)!))}`
    return { ok: false, position, found, message: `broken JSON at position ${position}: ${found}` }
  }
}

// Node's own messages name the position in some versions and for some faults only.
function findFaultPosition(text: string): number {
  const open: string[] = []
  let expected: 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'next' = 'value'
  let position = 0
  for (;;) {
    const start = skipWhitespace(text, position)
    const token = readToken(text, start)
    if (!token) return start
    const { mark, isString } = token
    position = token.end
    if (expected === 'key' || expected === 'firstKey') {
      if (isString) expected = 'colon'
      else if (mark === '}' && expected === 'firstKey') expected = closeBracket(open)
      else return start
    } else if (expected === 'colon') {
      if (mark !== ':') return start
      expected = 'value'
    } else if (expected === 'next') {
      const inside = open.at(-1)
      if (mark === ',' && inside !== undefined) expected = inside === '{' ? 'key' : 'value'
      else if ((mark === '}' && inside === '{') || (mark === ']' && inside === '['))
        expected = closeBracket(open)
      else return start
    } else if (mark === '{' || mark === '[') {
      open.push(mark)
      expected = mark === '{' ? 'firstKey' : 'first'
    } else if (mark === ']' && expected === 'first') expected = closeBracket(open)
    else if (mark !== undefined) return start
    else expected = 'next'
  }
}

const PLAIN_TOKEN = /([{}[\],:])|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE_SEQUENCE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

function readToken(
  text: string,
  start: number,
):
  | { readonly mark?: string | undefined; readonly isString: boolean; readonly end: number }
  | undefined {
  if (text[start] === '"') {
    const end = findStringEnd(text, start)
    return end === undefined ? undefined : { isString: true, end }
  }
  PLAIN_TOKEN.lastIndex = start
  const match = PLAIN_TOKEN.exec(text)
  return match ? { mark: match[1], isString: false, end: PLAIN_TOKEN.lastIndex } : undefined
}

// A loop, because an expression for the whole string runs out of stack in a string of many
// megabytes.
function findStringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === 0x22) return at + 1
    if (character < 0x20) return undefined
    if (character !== 0x5c) continue
    ESCAPE_SEQUENCE.lastIndex = at
    if (!ESCAPE_SEQUENCE.test(text)) return undefined
    at = ESCAPE_SEQUENCE.lastIndex - 1
  }
  return undefined
}

function closeBracket(open: string[]): 'next' {
  open.pop()
  return 'next'
}

function skipWhitespace(text: string, from: number): number {
  let position = from
  while (position < text.length && ' \t\n\r'.includes(text[position]!)) position += 1
  return position
}

const BYTE_ORDER_MARK = 0xfeff

/** Parses a JSON object that is a whole input; throws INVALID_INPUT with line and column. */
export function parseJsonInput(
  given: string,
  source: string,
  fix = 'Send one JSON object; quote it with single quotes in a shell, or send it on stdin',
): { readonly [field: string]: unknown } {
  const text = given.charCodeAt(0) === BYTE_ORDER_MARK ? given.slice(1) : given
  if (text.trim() === '')
    throw new ToolError('INVALID_INPUT', `${source} is empty; one JSON object is expected`, {
      details: { source },
      suggestion: 'Send one JSON object, at least {}',
    })
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const { line, column } = getPositionAt(text, parsed.position)
    throw new ToolError(
      'INVALID_INPUT',
      `${source} is not JSON (line ${line}, column ${column}): ${parsed.found}`,
      { details: { source, position: parsed.position, line, column }, suggestion: fix },
    )
  }
  const { value } = parsed
  if (!isObject(value))
    throw new ToolError(
      'INVALID_INPUT',
      `${source} must be a JSON object, got ${describeKind(value)}`,
      { details: { source } },
    )
  return value
}

function describeKind(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** Where something is in a text; both count from 1. */
export type DocumentPosition = { readonly line: number; readonly column: number }

/** The place of a character in a text. */
export function getPositionAt(text: string, offset: number): DocumentPosition {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
