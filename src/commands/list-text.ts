/**
 * The list of tools for a person. Apart from list.ts, because agents read JSON and never load it.
 */

import type { ResultRenderer } from '../cli/formats/envelope.ts'
import type { TextPainter } from '../cli/formats/terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from '../cli/formats/terminal-text.ts'
import { renderTable } from '../cli/formats/text.ts'
import type { Problem } from '../registry/source.ts'
import { pluralize } from '../util/text.ts'
import type { ToolListing } from './list.ts'

/** The list for a person: a table, then how much is not shown and how to see it. */
export const renderList: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { tools, problems, shadowed, only_problems } = result as ToolListing
  if (only_problems && problems.length === 0) return 'no problems\n'
  if (only_problems)
    return joinLines(problems.flatMap((problem) => describeProblem(problem, paint)))
  const rows = tools.map(({ id, name, summary, source, shadowed_by }) => ({
    name: shadowed_by === undefined ? name : id,
    summary,
    source: shadowed_by === undefined ? source : `${source} (behind ${shadowed_by})`,
  }))
  const hidden = shadowed - tools.filter(({ shadowed_by }) => shadowed_by !== undefined).length
  const lines = rows.length === 0 ? ['no tools'] : [...renderTable(rows, { columns, paint })]
  if (hidden + problems.length > 0) lines.push('')
  if (hidden > 0) {
    const count = pluralize(hidden, 'tool')
    lines.push(paint('dim', `${count} behind another of the same name: toolable list --all`))
  }
  if (problems.length > 0) {
    const count = pluralize(problems.length, 'problem')
    lines.push(paint('yellow', `${count}: toolable list --problems`))
  }
  return joinLines(lines)
}

function describeProblem(
  { location, reason, message, fix, severity }: Problem,
  paint: TextPainter,
): string[] {
  const title = severity === 'error' ? paint('red', 'not a tool:') : paint('yellow', 'warning:')
  return [
    `${title} ${cleanLine(location)} ${paint('dim', `(${cleanLine(reason)})`)}`,
    `  ${cleanText(message).replaceAll('\n', '\n  ')}`,
    `  ${paint('cyan', 'fix:')} ${cleanText(fix).replaceAll('\n', '\n  ')}`,
  ]
}

function joinLines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
