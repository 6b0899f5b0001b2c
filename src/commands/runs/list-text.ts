import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import type { RunListing, RunRow } from './list.ts'

/** The list for a person: a table, then how much is not shown. */
export const renderRuns: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { runs, total, folder } = result as RunListing
  if (total === 0) return `no runs in ${folder}\n`
  const more = total - runs.length
  return [
    ...(runs.length === 0 ? ['no such runs'] : renderTable(runs.map(toRow), { columns, paint })),
    ...(more > 0 ? ['', paint('dim', `${more} more ${more === 1 ? 'run' : 'runs'}: toolable runs list --limit ${total}`)] : []),
  ].map((line) => `${line}\n`).join('')
}

function toRow({ run_id, tool, state, code, attempt, created, duration_s, last }: RunRow): { readonly [column: string]: unknown } {
  return { run: run_id, tool, state: code === undefined ? state : `${state} ${code}`, attempt, created: created.slice(0, 19).replace('T', ' '), seconds: duration_s === undefined ? '' : Math.round(duration_s * 10) / 10, last: last ?? '' }
}
