import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import { RUN_COLUMNS, runCells } from '../runs/list-text.ts'
import type { ExecutionListing } from './list.ts'

/** The executions for a person. */
export const renderExecutions: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { executions, more, folder } = result as ExecutionListing
  if (executions.length === 0) return `no executions of workflows in ${folder}\n`
  const now = Date.now()
  const rows = executions.map((execution) => {
    const { first, times } = runCells(execution, now)
    return {
      ...first,
      workflow: execution.name,
      ...times,
      questions: execution.questions,
      last: execution.code,
    }
  })
  return [
    ...renderTable(rows, { columns, paint }, RUN_COLUMNS),
    ...(more
      ? ['', paint('dim', 'older ones are not shown: toolable workflow list --limit 1000')]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join('')
}
