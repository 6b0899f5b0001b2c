/** What a program printed, read as the one JSON document that it should be. */
export type ReadDocument =
  | { readonly kind: 'document'; readonly value: unknown }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'two-documents' }
  /** `line` is the first one that is no JSON. */
  | { readonly kind: 'not-json'; readonly line: string; readonly besides: boolean }

/** Reads stdout: exactly one JSON document, with nothing before or after it. */
export function readDocument(bytes: Buffer): ReadDocument {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '').trim()
  if (text === '') return { kind: 'nothing' }
  const whole = parse(text)
  if (whole) return { kind: 'document', ...whole }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  const stranger = lines.find((line) => !parse(line))
  if (stranger === undefined || splitsInTwo(text)) return { kind: 'two-documents' }
  return { kind: 'not-json', line: stranger.trim().slice(0, 200), besides: lines.some(startsDocument) }
}

// Documents over several lines: one ends where the next begins.
function splitsInTwo(text: string): boolean {
  const border = /[}\]]\s*[{[]/.exec(text)
  return border !== null && parse(text.slice(0, border.index + 1)) !== undefined
}

function startsDocument(line: string): boolean {
  return /^\s*[{[]/.test(line)
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
