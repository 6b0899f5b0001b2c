/**
 * The list of tools for a person. Apart from list.ts, because agents read JSON and never load it.
 */

import type { ResultRenderer } from '../cli/formats/envelope.ts'
import type { TextPainter } from '../cli/formats/terminal-text.ts'
import { cleanLine, cleanText, createTextPainter } from '../cli/formats/terminal-text.ts'
import { renderTable } from '../cli/formats/text.ts'
import type { Problem } from '../registry/source.ts'
import type { ToolListing } from './list.ts'

/** The list for a person: a table, then how much is not shown and how to see it. */
export const renderList: ResultRenderer = (result, { columns, color }) => {
  const paint = createTextPainter(color)
  const { tools, problems, shadowed, only_problems } = result as ToolListing
  if (only_problems)
    return joinLines([
      ...(problems.length === 0
        ? ['no problems']
        : problems.flatMap((problem) => describeProblem(problem, paint))),
    ])
  const rows = tools.map(({ id, name, summary, source, shadowed_by }) => ({
    name: shadowed_by === undefined ? name : id,
    summary,
    source: shadowed_by === undefined ? source : `${source} (behind ${shadowed_by})`,
  }))
  const hidden = shadowed - tools.filter(({ shadowed_by }) => shadowed_by !== undefined).length
  return joinLines([
    ...(rows.length === 0 ? ['no tools'] : renderTable(rows, { columns, paint })),
    ...(hidden + problems.length > 0 ? [''] : []),
    ...(hidden > 0
      ? [
          paint(
            'dim',
            `${pluralize(hidden, 'tool')} behind another of the same name: toolable list --all`,
          ),
        ]
      : []),
    ...(problems.length > 0
      ? [paint('yellow', `${pluralize(problems.length, 'problem')}: toolable list --problems`)]
      : []),
  ])
}

function describeProblem(
  { location, reason, message, fix, severity }: Problem,
  paint: TextPainter,
): string[] {
  return [
    `${paint(severity === 'error' ? 'red' : 'yellow', severity === 'error' ? 'not a tool:' : 'warning:')} ${cleanLine(location)} ${paint('dim', `(${cleanLine(reason)})`)}`,
    `  ${cleanText(message).replaceAll('\n', '\n  ')}`,
    `  ${paint('cyan', 'fix:')} ${cleanText(fix).replaceAll('\n', '\n  ')}`,
  ]
}

function pluralize(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}

function joinLines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
