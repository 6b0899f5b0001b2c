import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine, cleanText } from '../../surfaces/cli/output/text/clean.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import type { Problem } from '../../registry/found.ts'
import type { Listing } from './list.ts'

/** The list for a person: a table, then how much is not shown and how to see it. */
export const renderList: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { tools, problems, shadowed, only_problems } = result as Listing
  if (only_problems)
    return lines([
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
  return lines([
    ...(rows.length === 0 ? ['no tools'] : renderTable(rows, { columns, paint })),
    ...(hidden + problems.length > 0 ? [''] : []),
    ...(hidden > 0
      ? [
          paint(
            'dim',
            `${count(hidden, 'tool')} behind another of the same name: toolable list --all`,
          ),
        ]
      : []),
    ...(problems.length > 0
      ? [paint('yellow', `${count(problems.length, 'problem')}: toolable list --problems`)]
      : []),
  ])
}

function describeProblem(
  { location, reason, message, fix, severity }: Problem,
  paint: Paint,
): string[] {
  return [
    `${paint(severity === 'error' ? 'red' : 'yellow', severity === 'error' ? 'not a tool:' : 'warning:')} ${cleanLine(location)} ${paint('dim', `(${cleanLine(reason)})`)}`,
    `  ${cleanText(message).replaceAll('\n', '\n  ')}`,
    `  ${paint('cyan', 'fix:')} ${cleanText(fix).replaceAll('\n', '\n  ')}`,
  ]
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}

function lines(all: readonly string[]): string {
  return `${all.join('\n')}\n`
}
