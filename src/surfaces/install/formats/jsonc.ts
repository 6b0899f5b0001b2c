import { parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Node, ParseError } from 'jsonc-parser'
import { lineBreakOf } from './format.ts'
import type { Config, Format, Made } from './format.ts'
import { insertProperty, removeProperty } from './jsonc-properties.ts'
import { applyEdits, lineIndent, startsLine } from './text-edits.ts'

/** JSON as agents write it: comments and trailing commas are allowed, and stay. */
export const jsonc: Format = {
  name: 'JSON',

  parse(text, container) {
    if (isBlank(text)) return { value: {} }
    const errors: ParseError[] = []
    const root = parseTree(text, errors, { allowTrailingComma: true })
    if (errors[0]) return { problem: `is not valid JSON: ${describeError(text, errors[0])}` }
    if (root?.type !== 'object') return { problem: 'does not hold a JSON object' }
    const twice = findTwice(root) ?? findTwice(find(root, container)?.children?.[1])
    return twice === undefined
      ? { value: toValue(root) as Config }
      : { problem: `has the key '${twice}' twice` }
  },

  missing(text, container) {
    if (isBlank(text)) return { part: 'root' }
    const root = parse(text)
    const inside = valueOf(find(root, container))
    const opened = insertProperty(text, inside ?? root, {
      key: '',
      indent: '',
      render: () => '',
    }).opened
    return { ...(!inside && { part: 'container' as const }), ...(opened && { opened }) }
  },

  add(text, container, name, entry) {
    const lineBreak = lineBreakOf(text)
    if (isBlank(text))
      return (
        text +
        render({ [container]: { [name]: entry } }, '  ', '', lineBreak) +
        (text === '' ? lineBreak : '')
      )
    const root = parse(text)
    const inside = valueOf(find(root, container))
    const [key, value] = inside ? [name, entry] : [container, { [name]: entry }]
    const indent = indentOf(text, root)
    return insertProperty(text, inside ?? root, {
      key,
      indent,
      render: (at) =>
        at === undefined ? JSON.stringify(value) : render(value, indent, at, lineBreak),
    }).text
  },

  replace(text, container, name, entry) {
    const root = parse(text)
    const value = valueOf(find(valueOf(find(root, container)), name))!
    const within = text.slice(value.offset, value.offset + value.length)
    const rendered =
      within.includes('\n') || startsLine(text, value.parent!.offset)
        ? render(
            entry,
            indentOf(text, root),
            lineIndent(text, value.parent!.offset),
            lineBreakOf(text),
          )
        : JSON.stringify(entry)
    return applyEdits(text, [
      { start: value.offset, end: value.offset + value.length, text: rendered },
    ])
  },

  remove(text, container, name, made) {
    const isOurs = (part: NonNullable<Made['part']>): boolean =>
      made.part !== undefined &&
      ['container', 'root', 'file'].indexOf(made.part) >=
        ['container', 'root', 'file'].indexOf(part)
    const inside = valueOf(find(parse(text), container))!
    const rest = removeProperty(
      text,
      inside,
      find(inside, name)!,
      made.opened === true && !isOurs('container'),
    )
    const outer = parse(rest)
    const emptied = find(outer, container)!
    if (!isOurs('container') || !isEmptyObject(rest, valueOf(emptied)!)) return rest
    const without = removeProperty(rest, outer, emptied, made.opened === true)
    const root = parse(without)
    if (!isOurs('root') || !isEmptyObject(without, root)) return without
    const after = without.slice(root.offset + root.length)
    return without.slice(0, root.offset) + (root.offset === 0 ? after.replace(/^\r?\n/, '') : after)
  },
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

function parse(text: string): Node {
  return parseTree(text, [], { allowTrailingComma: true })!
}

function describeError(text: string, { error, offset }: ParseError): string {
  const before = text.slice(0, offset).split('\n')
  const words = printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
  return `${words} at line ${before.length}, column ${before.at(-1)!.length + 1}`
}

// The property node of a key.
function find(object: Node | undefined, key: string): Node | undefined {
  return object?.children?.find((property) => property.children?.[0]?.value === key)
}

function valueOf(property: Node | undefined): Node | undefined {
  return property?.children?.[1]
}

function findTwice(object: Node | undefined): string | undefined {
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
function indentOf(text: string, root: Node): string {
  const first = root.children?.[0]
  return (
    (first &&
      startsLine(text, first.offset) &&
      lineIndent(text, first.offset).slice(lineIndent(text, root.offset).length)) ||
    '  '
  )
}

function render(value: unknown, step: string, at: string, lineBreak: string): string {
  return JSON.stringify(value, null, step).replaceAll('\n', lineBreak + at)
}
