import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import type { ExecutionListing } from './list.ts'

/** The executions for a person. */
export const renderExecutions: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { executions, more, folder } = result as ExecutionListing
  if (executions.length === 0) return `no executions of workflows in ${folder}\n`
  const rows = executions.map(({ run_id, name, state, code, created, duration_s }) => ({ run: run_id, workflow: name, state: code === undefined ? state : `${state} ${code}`, created: created.slice(0, 19).replace('T', ' '), seconds: duration_s === undefined ? '' : Math.round(duration_s * 10) / 10 }))
  return [...renderTable(rows, { columns, paint }), ...(more ? ['', paint('dim', 'older ones are not shown: toolable workflow list --limit 1000')] : [])].map((line) => `${line}\n`).join('')
}
