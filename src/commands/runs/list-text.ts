import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import type { RunListing, RunRow } from './list.ts'

/** The list for a person: a table, then how much is not shown. */
export const renderRuns: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { runs, total, more, folder } = result as RunListing
  if (total === 0) return `no runs in ${folder}\n`
  return [
    ...(runs.length === 0 ? [`none of the ${total} runs is like that`] : renderTable(runs.map(toRow), { columns, paint })),
    ...(more ? ['', paint('dim', `older runs are not shown: toolable runs list --limit ${total}`)] : []),
  ].map((line) => `${line}\n`).join('')
}

function toRow({ run_id, tool, state, code, attempt, created, duration_s, last }: RunRow): { readonly [column: string]: unknown } {
  return { run: run_id, tool, state: code === undefined ? state : `${state} ${code}`, attempt, created: created.slice(0, 19).replace('T', ' '), seconds: duration_s === undefined ? '' : Math.round(duration_s * 10) / 10, last: last ?? '' }
}
