import type { Node } from 'jsonc-parser'
import { lineBreakOf } from './format.ts'
import { applyEdits, gapBefore, lineIndent, startsLine } from './text-edits.ts'
import type { TextEdit } from './text-edits.ts'

/** A property to be written; `render` gives its value for a line that begins with `at`, or on one line. */
export type NewProperty = {
  readonly key: string
  /** One step of indentation. */ readonly indent: string
  render(at: string | undefined): string
}

/** Puts a property behind the last one of an object. `opened` tells that the object got a line break before its closing brace. */
export function insertProperty(
  text: string,
  object: Node,
  property: NewProperty,
): { readonly text: string; readonly opened: boolean } {
  const last = object.children?.at(-1)
  return last
    ? { text: applyEdits(text, insertBehind(text, object, last, property)), opened: false }
    : insertFirst(text, object, property)
}

/** Takes a property out together with the comma that it needed: exactly what `insertProperty` put in. `opened` is what that told. */
export function removeProperty(
  text: string,
  object: Node,
  property: Node,
  opened: boolean,
): string {
  const properties = object.children ?? []
  const end = property.offset + property.length
  const previous = properties[properties.indexOf(property) - 1]
  // A comma behind it came with it, where trailing commas are the custom; without one, the comma before it did.
  const comma =
    commaBehind(text, end) ?? (previous && commaBehind(text, previous.offset + previous.length))
  const edits: TextEdit[] = [{ start: gapBefore(text, property.offset), end, text: '' }]
  if (comma !== undefined) edits.push({ start: comma, end: comma + 1, text: '' })
  if (opened && properties.length === 1)
    edits.push({ start: end, end: end + closingLine(text, object, end), text: '' })
  return applyEdits(text, edits)
}

function insertBehind(
  text: string,
  object: Node,
  last: Node,
  { key, render }: NewProperty,
): TextEdit[] {
  const end = last.offset + last.length
  const comma = commaBehind(text, end)
  const ownLine = startsLine(text, last.offset)
  const indent = lineIndent(text, last.offset)
  const behind = comma === undefined ? end : comma + 1
  // A remark on the same line is about what stands there already.
  const place = ownLine ? endOfRemarks(text, behind) : behind
  const gap = ownLine
    ? lineBreakOf(text) + indent
    : /\s/.test(text[object.offset + 1] ?? '')
      ? ' '
      : ''
  const colon = ownLine || gap !== '' ? ': ' : ':'
  const written = `${gap}${JSON.stringify(key)}${colon}${render(ownLine ? indent : undefined)}`
  if (comma !== undefined) return [{ start: place, end: place, text: `${written},` }]
  return [
    { start: end, end, text: ',' },
    { start: place, end: place, text: written },
  ]
}

function insertFirst(
  text: string,
  object: Node,
  { key, indent: step, render }: NewProperty,
): { readonly text: string; readonly opened: boolean } {
  const lineBreak = lineBreakOf(text)
  const outer = lineIndent(text, object.offset)
  const close = object.offset + object.length - 1
  const place = object.offset + 1 + text.slice(object.offset + 1, close).replace(/\s*$/, '').length
  const opened = !text.slice(place, close).includes('\n')
  const written = `${lineBreak}${outer}${step}${JSON.stringify(key)}: ${render(outer + step)}${opened ? lineBreak + outer : ''}`
  return { text: applyEdits(text, [{ start: place, end: place, text: written }]), opened }
}

// Our line break and indentation before the closing brace, and not what stood there before.
function closingLine(text: string, object: Node, end: number): number {
  const found = /^\r?\n/.exec(text.slice(end))?.[0]
  if (found === undefined) return 0
  const outer = lineIndent(text, object.offset)
  return found.length + (text.startsWith(outer, end + found.length) ? outer.length : 0)
}

const REMARKS = /(?:\s|\/\/[^\n\r]*|\/\*[^]*?\*\/)*/y
const REMARKS_ON_LINE = /(?:[ \t]*(?:\/\/[^\n\r]*|\/\*[^]*?\*\/))*/y

function commaBehind(text: string, offset: number): number | undefined {
  const next = skip(REMARKS, text, offset)
  return text[next] === ',' ? next : undefined
}

function endOfRemarks(text: string, offset: number): number {
  return skip(REMARKS_ON_LINE, text, offset)
}

function skip(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset
  pattern.exec(text)
  return pattern.lastIndex
}
