import { readFlag } from './flag.ts'
import { readHead } from './head.ts'
import type { Surroundings } from './spaced-value.ts'

/** What can be seen of a line without knowing where it belongs. */
export type LineLook = {
  readonly text: string
  /** Column of the first character; -1 for an empty line. */
  readonly indent: number
  /** Where a flag begins that the line begins with; -1 for other lines. */
  readonly flagAt: number
  /** Where its description begins behind a wide space; -1 for none. */
  readonly column: number
  /** Its description follows after one blank. */
  readonly narrow: boolean
  /** It has a description, behind a wide space or a sign. */
  readonly described: boolean
  /** Columns behind the description where another flag begins. */
  readonly further: readonly number[]
}

const ALONE: Surroundings = { descriptionColumn: undefined, narrow: false, describedBelow: false }
const PREFIX = /(?:(?:\*|•|·|\[!\]|\[\*\]|!|\+|-|-,|-<[a-z]{1,20}>,) +)?(?:\[ ?)?(?=-)/y
// How many lines with flags before and after one have a say about its columns.
const WINDOW = 12

export function lookAt(text: string): LineLook {
  const indent = text.search(/\S/)
  const flagAt = indent < 0 ? -1 : findFlag(text, indent)
  if (flagAt < 0)
    return { text, indent, flagAt, column: -1, narrow: false, described: false, further: [] }
  const head = readHead(text, flagAt, ALONE)
  if (!head)
    return { text, indent, flagAt: -1, column: -1, narrow: false, described: false, further: [] }
  const narrow = head.joint === 'narrow' && /^\S+ \S+ \S+/.test(text.slice(head.end, head.end + 80))
  return {
    text,
    indent,
    flagAt,
    column: head.joint === 'gap' ? head.end : -1,
    narrow,
    described:
      (head.joint === 'gap' || head.joint === 'sign') &&
      head.end < text.length &&
      !/^[[<|{-]/.test(text.slice(head.end)),
    further: flagsBehind(text, head.end),
  }
}

/** What the flag lines near line `index` say together. `flagLines` are the indexes of all lines that begin with a flag, `place` the place of this one among them. */
export function surroundingsOf(
  looks: readonly LineLook[],
  flagLines: readonly number[],
  place: number,
): Surroundings & { readonly further: ReadonlySet<number> } {
  const columns = new Map<number, number>()
  const further = new Map<number, number>()
  let narrow = 0
  let wide = 0
  for (
    let near = Math.max(0, place - WINDOW);
    near < Math.min(flagLines.length, place + WINDOW + 1);
    near++
  ) {
    const look = looks[flagLines[near]!]!
    if (look.column >= 0) count(columns, look.column)
    for (const column of look.further) count(further, column)
    if (look.narrow) narrow++
    else if (look.column >= 0) wide++
  }
  const index = flagLines[place]!
  const here = looks[index]!
  const lines = Math.min(flagLines.length, place + WINDOW + 1) - Math.max(0, place - WINDOW)
  const best = [...columns].sort((left, right) => right[1] - left[1] || left[0] - right[0])[0]
  const next = looks[index + 1]
  return {
    descriptionColumn:
      best && best[1] >= 2 && best[1] * 5 >= lines && best[0] > here.flagAt ? best[0] : undefined,
    narrow: narrow > wide,
    describedBelow: next !== undefined && next.indent > here.indent && next.flagAt < 0,
    further: new Set([...further].filter(([, votes]) => votes >= 2).map(([column]) => column)),
  }
}

function count(votes: Map<number, number>, key: number): void {
  votes.set(key, (votes.get(key) ?? 0) + 1)
}

function findFlag(text: string, indent: number): number {
  PREFIX.lastIndex = indent
  const prefix = PREFIX.exec(text)
  if (!prefix) return -1
  const dash = indent + prefix[0].length
  if (!readFlag(text, dash)) return -1
  return prefix[0].includes('[') && !prefix[0].startsWith('[!]') && !prefix[0].startsWith('[*]')
    ? text.indexOf('[', indent)
    : dash
}

function flagsBehind(text: string, from: number): number[] {
  const columns: number[] = []
  for (
    let gap = text.indexOf('  ', from);
    gap >= 0 && columns.length < 8;
    gap = text.indexOf('  ', gap)
  ) {
    while (text[gap] === ' ') gap++
    if (text[gap] === '-' && readFlag(text, gap)) columns.push(gap)
  }
  return columns
}
