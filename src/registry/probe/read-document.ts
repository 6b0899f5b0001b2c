import { isDeeperThan } from '../../contract/json.ts'

/** Levels of a description; far more than any schema has that somebody can use. */
export const DEEPEST_ANSWER = 200

/** What a program printed, read as the one JSON document that it should be. */
export type ReadDocument =
  | { readonly kind: 'document'; readonly value: unknown }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'two-documents' }
  | { readonly kind: 'too-deep' }
  /** `line` is the first one that is no JSON. */
  | { readonly kind: 'not-json'; readonly line: string; readonly besides: boolean }

/** Reads stdout: exactly one JSON document, with nothing before or after it. */
export function readDocument(bytes: Buffer): ReadDocument {
  const text = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  if (text === '') return { kind: 'nothing' }
  const whole = parse(text)
  if (whole)
    return isDeeperThan(DEEPEST_ANSWER, whole.value)
      ? { kind: 'too-deep' }
      : { kind: 'document', ...whole }
  const stranger = text.includes('\n') ? findStranger(text) : text
  if (stranger === undefined || splitsInTwo(text)) return { kind: 'two-documents' }
  return {
    kind: 'not-json',
    line: stranger.trim().slice(0, 200),
    besides: /^[ \t]*[{[]/m.test(text),
  }
}

// Line by line instead of all at once, because the first one decides nearly always.
function findStranger(text: string): string | undefined {
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const line = text.slice(start, end)
    if (line.trim() !== '' && !parse(line)) return line
  }
  return undefined
}

// Documents over several lines: one ends where the next begins.
function splitsInTwo(text: string): boolean {
  const border = /[}\]]\s*[{[]/.exec(text)
  return border !== null && parse(text.slice(0, border.index + 1)) !== undefined
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
