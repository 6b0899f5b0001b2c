/** Parsed JSON, or where and why the text broke. */
export type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string; readonly position: number; readonly found: string }

/** Parses JSON; the message of a failure says where it broke. Never throws. */
export function parseJson(text: string): ParsedJson {
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch {
    const position = findBreak(text)
    const found = position >= text.length ? 'the text ends too early' : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(position)!))}`
    return { ok: false, position, found, message: `broken JSON at position ${position}: ${found}` }
  }
}

const TOKEN = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y

// Node's own messages name the position in some versions and for some faults only.
function findBreak(text: string): number {
  const open: string[] = []
  let expected: 'value' | 'first' | 'key' | 'firstKey' | 'colon' | 'next' = 'value'
  TOKEN.lastIndex = 0
  for (;;) {
    const start = skipSpace(text, TOKEN.lastIndex)
    const match = TOKEN.exec(text)
    if (!match) return start
    const [, mark, string] = match
    if (expected === 'key' || expected === 'firstKey') {
      if (string !== undefined) expected = 'colon'
      else if (mark === '}' && expected === 'firstKey') expected = close(open)
      else return start
    } else if (expected === 'colon') {
      if (mark !== ':') return start
      expected = 'value'
    } else if (expected === 'next') {
      const inside = open.at(-1)
      if (mark === ',' && inside !== undefined) expected = inside === '{' ? 'key' : 'value'
      else if ((mark === '}' && inside === '{') || (mark === ']' && inside === '[')) expected = close(open)
      else return start
    } else if (mark === '{' || mark === '[') {
      open.push(mark)
      expected = mark === '{' ? 'firstKey' : 'first'
    } else if (mark === ']' && expected === 'first') expected = close(open)
    else if (mark !== undefined) return start
    else expected = 'next'
  }
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
