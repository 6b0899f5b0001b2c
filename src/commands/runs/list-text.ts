import { isOver } from '../../contract/run-state.ts'
import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { renderTable } from '../../surfaces/cli/output/text/table.ts'
import type { TableWishes } from '../../surfaces/cli/output/text/table.ts'
import { formatAgo, formatDuration } from '../../views/model/format/duration.ts'
import type { RunListing, RunRow } from './list.ts'
import { STATE_COLORS } from './paint-state.ts'

/** The list for a person: a table, then how much is not shown. */
export const renderRuns: RenderResult = (result, { columns, color }) => {
  const paint = createPaint(color)
  const { runs, total, more, folder } = result as RunListing
  if (total === 0) return `no runs in ${folder}\n`
  const now = Date.now()
  return [
    ...(runs.length === 0
      ? [`none of the ${total} runs is like that`]
      : renderTable(
          runs.map((run) => toRow(run, now)),
          { columns, paint },
          RUN_COLUMNS,
        )),
    ...(more
      ? ['', paint('dim', `older runs are not shown: toolable runs list --limit ${total}`)]
      : []),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/** How tables of runs are laid out: ids and states are never cut. */
export const RUN_COLUMNS: TableWishes = {
  whole: ['run', 'state', 'started', 'duration'],
  right: ['duration'],
  spare: ['questions', 'artifacts', 'caller', 'attempts', 'last', 'duration', 'started'],
  style: (key, row) =>
    key === 'state'
      ? STATE_COLORS[row['state'] as RunRow['state']]
      : key === 'started'
        ? 'dim'
        : undefined,
}

/** The columns of a run that every list has. */
export function runCells(
  {
    run_id,
    state,
    created,
    duration_s,
  }: Pick<RunRow, 'run_id' | 'state' | 'created' | 'duration_s'>,
  now: number,
): {
  readonly first: { readonly [column: string]: unknown }
  readonly times: { readonly [column: string]: unknown }
} {
  return {
    first: { run: run_id, state },
    times: {
      started: formatAgo(Date.parse(created), now),
      duration: duration_s === undefined ? '' : formatDuration(duration_s),
    },
  }
}

// The same columns as in the dashboard, the id first.
function toRow(run: RunRow, now: number): { readonly [column: string]: unknown } {
  const { first, times } = runCells(run, now)
  return {
    ...first,
    tool: run.tool,
    caller: run.caller,
    ...times,
    attempts: run.attempt > 1 ? run.attempt : undefined,
    artifacts: run.artifacts,
    last: lastOf(run),
  }
}

function lastOf({ state, code, message, last }: RunRow): string {
  return isOver(state)
    ? [code, message].filter((part) => part !== undefined).join(' ')
    : (last ?? '')
}
