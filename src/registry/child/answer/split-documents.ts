import { parseForeign } from './parse-json.ts'

/** What stands in an output: the JSON objects and lists that begin a line, the lines that are something else, and whether a document is the last thing said. */
export type Documents = {
  readonly documents: readonly unknown[]
  readonly lines: readonly string[]
  readonly endsInDocument: boolean
  readonly mended: boolean
}

/** Finds the JSON documents of an output, wherever other lines stand between them. The time grows with the text and no faster: brackets that are opened and never closed are given up on. */
export function splitDocuments(text: string): Documents {
  const documents: unknown[] = []
  const lines: string[] = []
  let endsInDocument = false
  let mended = false
  let budget = text.length * 4 + 10_000
  let at = 0
  while (at < text.length) {
    const scan = scanDocument(text, at, budget)
    budget -= scan.end - at
    const parsed = scan.closed ? parseForeign(text.slice(at, scan.end)) : undefined
    if (parsed) {
      documents.push(parsed.value)
      mended ||= parsed.mended === true
      endsInDocument = true
      at = skipSpace(text, scan.end)
      continue
    }
    const lineEnd = text.indexOf('\n', at)
    const next = lineEnd === -1 ? text.length : lineEnd + 1
    const line = text.slice(at, next).trimEnd()
    if (line.trim() !== '') {
      lines.push(line)
      endsInDocument = false
    }
    at = next
  }
  return { documents, lines, endsInDocument, mended }
}

type Scan = { readonly closed: boolean; readonly end: number }

// Only brackets and strings are looked at; whether it is JSON is for the parser to say.
function scanDocument(text: string, start: number, budget: number): Scan {
  if (text[start] !== '{' && text[start] !== '[') return { closed: false, end: start }
  const last = Math.min(text.length, start + budget)
  let depth = 0
  for (let at = start; at < last; at += 1) {
    const character = text[at]
    if (character === '"') {
      const end = endOfString(text, at + 1, last)
      if (end === undefined) return { closed: false, end: at }
      at = end
    } else if (character === '{' || character === '[') depth += 1
    else if ((character === '}' || character === ']') && --depth === 0)
      return { closed: true, end: at + 1 }
  }
  return { closed: false, end: last }
}

// A string of JSON never goes beyond its line, so that a stray quote costs no more than a line.
function endOfString(text: string, start: number, last: number): number | undefined {
  for (let at = start; at < last; at += 1) {
    const character = text[at]
    if (character === '\\') at += 1
    else if (character === '"') return at
    else if (character === '\n') return undefined
  }
  return undefined
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at]!.trim() === '') at += 1
  return at
}
