import type { LineLook } from './layout.ts'

/** A row of a table that does not begin with a flag: a name, and what is said about it. */
export type Row = {
  readonly head: string
  description: string
  readonly indent: number
  readonly below: boolean
}

/** The rows of a section. What is indented more than a row belongs to it; what is indented less is a title or prose. */
export function readRows(looks: readonly LineLook[]): Row[] {
  const rows: (Row & { column: number })[] = []
  const edge = edgeOf(looks)
  let blank = false
  for (const { text, indent } of looks) {
    if (indent < 0) {
      blank = true
      continue
    }
    if (indent < edge) {
      blank = true
      continue
    }
    const above = rows[rows.length - 1]
    if (above && indent > above.indent && (above.column < 0 || indent >= above.column || !blank)) {
      above.description += `${above.description === '' ? '' : '\n'}${text.trim()}`
      if (above.column < 0) above.column = indent
    } else rows.push(readRow(text, indent))
    blank = false
  }
  return rows
}

/** The indent that most rows with a description have; without any, the smallest. */
function edgeOf(looks: readonly LineLook[]): number {
  const votes = new Map<number, number>()
  let smallest = Number.MAX_SAFE_INTEGER
  for (const { text, indent } of looks) {
    if (indent < 0) continue
    smallest = Math.min(smallest, indent)
    if (DESCRIBED.test(text.slice(indent, indent + 200)))
      votes.set(indent, (votes.get(indent) ?? 0) + 1)
  }
  return (
    [...votes].sort((left, right) => right[1] - left[1] || left[0] - right[0])[0]?.[0] ?? smallest
  )
}

const DESCRIBED = /^(?:\* +)?\S+(?: \S+){0,5} {2,}\S/
const SIGN = / +[-–—:=#] +|: +| {2,}/

function readRow(text: string, indent: number): Row & { column: number } {
  const trimmed = text.trim()
  const star = /^\* +/.exec(trimmed)?.[0].length ?? 0
  const joint = SIGN.exec(trimmed.slice(star))
  if (!joint) return { head: trimmed.slice(star), description: '', indent, below: true, column: -1 }
  const column = indent + star + joint.index + joint[0].length
  return {
    head: trimmed.slice(star, star + joint.index),
    description: trimmed.slice(star + joint.index + joint[0].length),
    indent,
    below: false,
    column,
  }
}
