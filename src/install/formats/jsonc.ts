/**
 * JSON with comments, edited as text.
 */

import type { Node, ParseError } from 'jsonc-parser'
import { findNodeAtLocation, parseTree, printParseErrorCode } from 'jsonc-parser'
import { compact } from '../../util/values.ts'
import type { ConfigFormat, ConfigObject } from './format.ts'
import { getLineBreak } from './format.ts'

/** JSON as agents write it: comments and trailing commas are allowed, and stay. */
export const jsonc: ConfigFormat = {
  name: 'JSON',

  parse(text, container) {
    if (isBlank(text)) return { value: {} }
    const errors: ParseError[] = []
    const root = parseTree(text, errors, { allowTrailingComma: true })
    if (errors[0]) return { problem: `is not valid JSON: ${describeParseError(text, errors[0])}` }
    if (root?.type !== 'object') return { problem: 'does not hold a JSON object' }
    const twice = findDuplicateKey(root) ?? findDuplicateKey(findNodeAtLocation(root, [container]))
    return twice === undefined
      ? { value: toValue(root) as ConfigObject }
      : { problem: `has the key '${twice}' twice` }
  },

  missing(text, container) {
    if (isBlank(text)) return { part: 'root' }
    const root = parseRoot(text)
    const inside = findNodeAtLocation(root, [container])
    const empty = { key: '', indent: '', render: () => '' }
    const { opened } = insertProperty(text, inside ?? root, empty)
    return compact({
      part: !inside ? ('container' as const) : undefined,
      opened: opened || undefined,
    })
  },

  add(text, container, name, entry) {
    const lineBreak = getLineBreak(text)
    if (isBlank(text))
      return (
        text +
        renderJson({ [container]: { [name]: entry } }, '  ', '', lineBreak) +
        (text === '' ? lineBreak : '')
      )
    const root = parseRoot(text)
    const inside = findNodeAtLocation(root, [container])
    const [key, value] = inside ? [name, entry] : [container, { [name]: entry }]
    const indent = getIndent(text, root)
    return insertProperty(text, inside ?? root, {
      key,
      indent,
      render: (at) =>
        at === undefined ? JSON.stringify(value) : renderJson(value, indent, at, lineBreak),
    }).text
  },

  replace(text, container, name, entry) {
    const root = parseRoot(text)
    const { offset: start, length, parent } = findNodeAtLocation(root, [container, name])!
    const end = start + length
    const at = lineIndent(text, parent!.offset)
    const isOnLines = text.slice(start, end).includes('\n') || startsLine(text, parent!.offset)
    const rendered = isOnLines
      ? renderJson(entry, getIndent(text, root), at, getLineBreak(text))
      : JSON.stringify(entry)
    return applyEdits(text, [{ start, end, text: rendered }])
  },

  remove(text, container, name, made) {
    // Who created a file also created what is in it.
    const isContainerOurs = made.part !== undefined
    const isRootOurs = isContainerOurs && made.part !== 'container'
    const opened = made.opened === true
    const property = findNodeAtLocation(parseRoot(text), [container, name])!.parent!
    const rest = removeProperty(text, property.parent!, property, opened && !isContainerOurs)
    const outer = parseRoot(rest)
    const emptied = findNodeAtLocation(outer, [container])!
    if (!isContainerOurs || !isEmptyObject(rest, emptied)) return rest
    const without = removeProperty(rest, outer, emptied.parent!, opened)
    const root = parseRoot(without)
    if (!isRootOurs || !isEmptyObject(without, root)) return without
    const after = without.slice(root.offset + root.length)
    return without.slice(0, root.offset) + (root.offset === 0 ? after.replace(/^\r?\n/, '') : after)
  },
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function parseRoot(text: string): Node {
  return parseTree(text, [], { allowTrailingComma: true })!
}

function describeParseError(text: string, { error, offset }: ParseError): string {
  const before = text.slice(0, offset).split('\n')
  const words = printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
  return `${words} at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

function findDuplicateKey(object: Node | undefined): string | undefined {
  const keys =
    object?.type === 'object'
      ? (object.children ?? []).map((property) => property.children![0]!.value as string)
      : []
  return keys.find((key, index) => keys.indexOf(key) !== index)
}

function toValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(toValue)
  if (node.type === 'object')
    return Object.fromEntries(
      (node.children ?? []).map((property) => [
        property.children![0]!.value as string,
        toValue(property.children![1]!),
      ]),
    )
  return node.value as unknown
}

function isEmptyObject(text: string, object: Node): boolean {
  return text.slice(object.offset + 1, object.offset + object.length - 1).trim() === ''
}

// One step of indentation, as the first property shows it.
function getIndent(text: string, root: Node): string {
  const first = root.children?.[0]
  return (
    (first &&
      startsLine(text, first.offset) &&
      lineIndent(text, first.offset).slice(lineIndent(text, root.offset).length)) ||
    '  '
  )
}

function renderJson(value: unknown, step: string, at: string, lineBreak: string): string {
  return JSON.stringify(value, null, step).replaceAll('\n', lineBreak + at)
}

/**
 * A property to be written; `render` gives its value for a line that begins with `at`, or on one
 * line.
 */
type NewProperty = {
  readonly key: string
  /** One step of indentation. */ readonly indent: string
  render(at: string | undefined): string
}

/**
 * Puts a property behind the last one of an object. `opened` tells that the object got a line break
 * before its closing brace.
 */
function insertProperty(
  text: string,
  object: Node,
  property: NewProperty,
): { readonly text: string; readonly opened: boolean } {
  const last = object.children?.at(-1)
  return last
    ? { text: applyEdits(text, insertAfter(text, object, last, property)), opened: false }
    : insertFirst(text, object, property)
}

/**
 * Takes a property out together with the comma that it needed: exactly what `insertProperty` put
 * in. `opened` is what that told.
 */
function removeProperty(text: string, object: Node, property: Node, opened: boolean): string {
  const properties = object.children ?? []
  const end = property.offset + property.length
  const previous = properties[properties.indexOf(property) - 1]
  // A comma behind it came with it, where trailing commas are the custom; without one, the comma
  // before it did.
  const comma =
    findCommaAfter(text, end) ??
    (previous && findCommaAfter(text, previous.offset + previous.length))
  const edits: TextEdit[] = [{ start: gapBefore(text, property.offset), end, text: '' }]
  if (comma !== undefined) edits.push({ start: comma, end: comma + 1, text: '' })
  if (opened && properties.length === 1)
    edits.push({ start: end, end: end + countClosingLine(text, object, end), text: '' })
  return applyEdits(text, edits)
}

function insertAfter(
  text: string,
  object: Node,
  last: Node,
  { key, render }: NewProperty,
): TextEdit[] {
  const end = last.offset + last.length
  const comma = findCommaAfter(text, end)
  const ownLine = startsLine(text, last.offset)
  const indent = lineIndent(text, last.offset)
  const behind = comma === undefined ? end : comma + 1
  // A comment on the same line is about the property before.
  const place = ownLine ? skipCommentsOnLine(text, behind) : behind
  const space = /\s/.test(text[object.offset + 1] ?? '') ? ' ' : ''
  const gap = ownLine ? getLineBreak(text) + indent : space
  const colon = gap === '' ? ':' : ': '
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
  const lineBreak = getLineBreak(text)
  const outer = lineIndent(text, object.offset)
  const close = object.offset + object.length - 1
  const place = object.offset + 1 + text.slice(object.offset + 1, close).replace(/\s*$/, '').length
  const opened = !text.slice(place, close).includes('\n')
  const written = `${lineBreak}${outer}${step}${JSON.stringify(key)}: ${render(outer + step)}${opened ? lineBreak + outer : ''}`
  return { text: applyEdits(text, [{ start: place, end: place, text: written }]), opened }
}

// Our line break and indentation before the closing brace, and not what stood there before.
function countClosingLine(text: string, object: Node, end: number): number {
  const found = /^\r?\n/.exec(text.slice(end))?.[0]
  if (found === undefined) return 0
  const outer = lineIndent(text, object.offset)
  return found.length + (text.startsWith(outer, end + found.length) ? outer.length : 0)
}

const COMMENTS = /(?:\s|\/\/[^\n\r]*|\/\*[^]*?\*\/)*/y
const COMMENTS_ON_LINE = /(?:[ \t]*(?:\/\/[^\n\r]*|\/\*[^]*?\*\/))*/y

function findCommaAfter(text: string, offset: number): number | undefined {
  const next = skipPattern(COMMENTS, text, offset)
  return text[next] === ',' ? next : undefined
}

function skipCommentsOnLine(text: string, offset: number): number {
  return skipPattern(COMMENTS_ON_LINE, text, offset)
}

function skipPattern(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset
  pattern.exec(text)
  return pattern.lastIndex
}

/** One change of a text: what stands from `start` to `end` becomes `text`. */
type TextEdit = { readonly start: number; readonly end: number; readonly text: string }

/** The text with all edits done; they do not overlap. */
function applyEdits(text: string, edits: readonly TextEdit[]): string {
  // From the back, so that offsets stay true; of two at one place the later one was meant to stand
  // behind.
  return edits
    .map((edit, index) => ({ ...edit, index }))
    .sort((left, right) => right.start - left.start || right.index - left.index)
    .reduce(
      (result, edit) => result.slice(0, edit.start) + edit.text + result.slice(edit.end),
      text,
    )
}

/** The white space with which the line of an offset begins. */
function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))![0]
}

/** True when nothing but white space stands before the offset on its line. */
function startsLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === ''
}

/** Where the line of an offset begins. */
function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** Where the one line break, or the spaces, before an offset begin. */
function gapBefore(text: string, offset: number): number {
  return offset - /(?:\r?\n)?[ \t]*$/.exec(text.slice(0, offset))![0].length
}
