/** Parsed JSON, or where and why the text broke. */
export type ParsedJson =
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
    const position = findBreak(text)
    const found =
      position >= text.length
        ? 'the text ends too early'
        : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(position)!))}`
    return { ok: false, position, found, message: `broken JSON at position ${position}: ${found}` }
  }
}

// Node's own messages name the position in some versions and for some faults only.
function findBreak(text: string): number {
  const open: string[] = []
  let expected: 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'next' = 'value'
  let position = 0
  for (;;) {
    const start = skipSpace(text, position)
    const token = readToken(text, start)
    if (!token) return start
    const { mark, isString } = token
    position = token.end
    if (expected === 'key' || expected === 'firstKey') {
      if (isString) expected = 'colon'
      else if (mark === '}' && expected === 'firstKey') expected = close(open)
      else return start
    } else if (expected === 'colon') {
      if (mark !== ':') return start
      expected = 'value'
    } else if (expected === 'next') {
      const inside = open.at(-1)
      if (mark === ',' && inside !== undefined) expected = inside === '{' ? 'key' : 'value'
      else if ((mark === '}' && inside === '{') || (mark === ']' && inside === '['))
        expected = close(open)
      else return start
    } else if (mark === '{' || mark === '[') {
      open.push(mark)
      expected = mark === '{' ? 'firstKey' : 'first'
    } else if (mark === ']' && expected === 'first') expected = close(open)
    else if (mark !== undefined) return start
    else expected = 'next'
  }
}

const PLAIN = /([{}[\],:])|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

function readToken(
  text: string,
  start: number,
):
  | { readonly mark?: string | undefined; readonly isString: boolean; readonly end: number }
  | undefined {
  if (text[start] === '"') {
    const end = endOfString(text, start)
    return end === undefined ? undefined : { isString: true, end }
  }
  PLAIN.lastIndex = start
  const match = PLAIN.exec(text)
  return match ? { mark: match[1], isString: false, end: PLAIN.lastIndex } : undefined
}

// A loop, because an expression for the whole string runs out of stack in a string of many megabytes.
function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === 0x22) return at + 1
    if (character < 0x20) return undefined
    if (character !== 0x5c) continue
    ESCAPE.lastIndex = at
    if (!ESCAPE.test(text)) return undefined
    at = ESCAPE.lastIndex - 1
  }
  return undefined
}

function close(open: string[]): 'next' {
  open.pop()
  return 'next'
}

function skipSpace(text: string, from: number): number {
  let position = from
  while (position < text.length && ' \t\n\r'.includes(text[position]!)) position += 1
  return position
}
