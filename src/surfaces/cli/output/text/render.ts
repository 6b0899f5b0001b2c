import { isObject } from '../../../../contract/json.ts'
import type { Json } from '../../../../contract/json.ts'
import { createPaint } from '../color.ts'
import { toJsonText, toPlainJson } from '../json-text.ts'
import { toCell } from './cell.ts'
import { cleanLine, cleanText } from './clean.ts'
import { displayWidth } from './display-width.ts'
import { narrow } from './layout.ts'
import type { TextLayout } from './layout.ts'
import { renderTable } from './table.ts'
import { padEnd } from './truncate.ts'

const INDENT = 2
const DEEPEST = 12

/** A result for a person: tables for lists of objects, trees for objects, text as it is. Nothing to show gives ''. `columns` undefined means no terminal: nothing is cut. */
export function renderText(
  value: unknown,
  { columns, color }: { readonly columns?: number | undefined; readonly color: boolean },
): string {
  const lines = renderLines(toPlainJson(value), { columns, paint: createPaint(color) }, 0)
  const text = lines.join('\n')
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

function renderLines(value: Json, layout: TextLayout, depth: number): string[] {
  if (value === null || value === '') return []
  if (typeof value === 'string') return [cleanText(value)]
  if (typeof value !== 'object') return [String(value)]
  if (depth > DEEPEST) return [cleanLine(toJsonText(value))]
  return isList(value) ? renderList(value, layout, depth) : renderTree(value, layout, depth)
}

function renderList(list: readonly Json[], layout: TextLayout, depth: number): string[] {
  if (list.length > 0 && list.every((item) => isObject(item) && Object.keys(item).length > 0)) {
    return renderTable(list as readonly { readonly [key: string]: Json }[], layout)
  }
  const bullet = depth === 0 ? '' : '- '
  return list.map((item) => `${bullet}${toCell(item)}`)
}

function renderTree(
  tree: { readonly [key: string]: Json },
  layout: TextLayout,
  depth: number,
): string[] {
  const keys = Object.keys(tree)
  const titles = keys.map(cleanLine)
  const keyWidth = titles.reduce(
    (widest, title, index) =>
      isBlock(tree[keys[index] ?? '']) ? widest : Math.max(widest, displayWidth(title)),
    0,
  )
  return keys.flatMap((key, index) => {
    const value = tree[key] ?? null
    const title = titles[index] ?? ''
    if (!isBlock(value))
      return [
        `${layout.paint('dim', padEnd(title, keyWidth))}  ${isEmpty(value) ? layout.paint('dim', '(none)') : toCell(value)}`,
      ]
    const inner = renderLines(value, narrow(layout, INDENT), depth + 1)
      .join('\n')
      .replace(/\n+$/, '')
      .split('\n')
    return [
      layout.paint('dim', title),
      ...inner.map((line) => (line === '' ? '' : ' '.repeat(INDENT) + line)),
    ]
  })
}

// What gets its own indented lines below the key.
function isBlock(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.includes('\n')
  return typeof value === 'object' && value !== null && !isEmpty(value)
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
