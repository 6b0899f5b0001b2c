import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'
import { getLineBreak } from './format.ts'
import type { ConfigFormat, ConfigObject } from './format.ts'

/**
 * TOML. An entry is a table of its own at the end of the file; which lines belong to it is found by
 * trying, and proved by reading what is left.
 */
export const toml: ConfigFormat = {
  name: 'TOML',

  parse(text) {
    try {
      return { value: parseToml(text) }
    } catch (error) {
      if (!(error instanceof TomlError)) throw error
      return {
        problem: `is not valid TOML: ${error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')} at line ${error.line}, column ${error.column}`,
      }
    }
  },

  missing: () => ({}),

  add(text, container, name, entry) {
    const lineBreak = getLineBreak(text)
    const block = renderTable(container, name, entry, lineBreak)
    if (text === '') return block + lineBreak
    // A file that does not end its last line goes on not to do so; that tells `remove` how much of
    // the gap is ours.
    return text.endsWith('\n')
      ? text + lineBreak + block + lineBreak
      : text + lineBreak + lineBreak + block
  },

  replace(text, container, name, entry) {
    const range = findTable(text, container, name)
    if (!range) return undefined
    const lineBreak = getLineBreak(text)
    const ended = text.slice(range.start, range.end).endsWith('\n')
    return (
      text.slice(0, range.start) +
      renderTable(container, name, entry, lineBreak) +
      (ended ? lineBreak : '') +
      text.slice(range.end)
    )
  },

  remove(text, container, name) {
    const range = findTable(text, container, name)
    if (!range) return undefined
    const before = text.slice(0, range.start)
    const ended = text.slice(range.start, range.end).endsWith('\n')
    const gap = ended ? /(?<=^|\n)\r?\n$/ : /\r?\n(?:\r?\n)?$/
    const rest = text.slice(range.end)
    return before === '' ? rest.replace(/^\r?\n/, '') : before.replace(gap, '') + rest
  },
}

function parseToml(text: string): ConfigObject {
  return toPlain(parse(text)) as ConfigObject
}

// The parser gives objects without prototype, which compare as different from ours.
function toPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlain(inner)]))
}

type TextRange = { readonly start: number; readonly end: number }

function findTable(text: string, container: string, name: string): TextRange | undefined {
  const value = parseToml(text)
  const { [name]: _, ...others } = value[container] as ConfigObject
  const wanted = { ...value, [container]: others }
  const header = new RegExp(
    `^[ \\t]*\\[[ \\t]*${keyPattern(container)}[ \\t]*\\.[ \\t]*${keyPattern(name)}[ \\t]*\\]`,
    'gm',
  )
  for (const { index: start } of text.matchAll(header)) {
    for (const end of [
      ...[...text.slice(start).matchAll(/^[ \t]*\[/gm)].slice(1).map(({ index }) => start + index),
      text.length,
    ]) {
      if (leavesOnly(text.slice(0, start) + text.slice(end), wanted, container))
        return { start, end: excludeComments(text, start, end) }
    }
  }
  return undefined
}

// What a line like a header means depends on all that stands before it, so nothing but the parser
// knows.
function leavesOnly(rest: string, wanted: ConfigObject, container: string): boolean {
  try {
    const value = parseToml(rest)
    return isDeepStrictEqual(
      Object.hasOwn(value, container) ? value : { ...value, [container]: {} },
      wanted,
    )
  } catch {
    return false
  }
}

// Blank lines and comments before the next table belong to that one.
function excludeComments(text: string, start: number, end: number): number {
  return (
    start + text.slice(start, end).replace(/(?<=\n)(?:[ \t]*(?:#[^\n]*)?(?:\r?\n|$))*$/, '').length
  )
}

function renderTable(
  container: string,
  name: string,
  entry: ConfigObject,
  lineBreak: string,
): string {
  return [
    `[${renderKey(container)}.${renderKey(name)}]`,
    ...Object.entries(entry).map(([key, value]) => `${renderKey(key)} = ${renderValue(value)}`),
  ].join(lineBreak)
}

function renderValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderValue).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${renderKey(key)} = ${renderValue(inner)}`)
      .join(', ')} }`
  return typeof value === 'string' ? renderString(value) : String(value)
}

function renderKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : renderString(key)
}

// The escapes of JSON are escapes of TOML; DEL is the one character that only TOML wants escaped.
function renderString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}

function keyPattern(key: string): string {
  const literal = key.replaceAll(/[^A-Za-z0-9_-]/g, '\\$&')
  return `(?:${literal}|"${literal}"|'${literal}')`
}
