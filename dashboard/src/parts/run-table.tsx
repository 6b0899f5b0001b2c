import type { RunRow } from '../../../src/views/model/api.ts'
import { RunLink, Subject } from './links.tsx'
import { LastWords, RunTime } from './run-cells.tsx'
import { StateBadge } from './state-badge.tsx'
import { Table } from './table.tsx'
import { Ago } from './time.tsx'

/** A short table of runs, for screens that show some of them. */
export function RunTable({
  rows,
  label = 'Runs',
}: {
  readonly rows: readonly RunRow[]
  readonly label?: string
}) {
  return (
    <Table
      class="runs"
      label={label}
      rows={rows}
      rowKey={({ run_id }) => run_id}
      columns={[
        { head: 'State', cell: ({ state }) => <StateBadge state={state} /> },
        { head: 'Run', cell: ({ run_id }) => <RunLink id={run_id} /> },
        { head: 'Tool or workflow', cell: (row) => <Subject row={row} /> },
        { head: 'Started by', class: 'dim', cell: ({ caller }) => caller ?? '–' },
        { head: 'Started', cell: ({ started, created }) => <Ago at={started ?? created} /> },
        { head: 'Took', class: 'right', cell: (row) => <RunTime row={row} /> },
        { head: 'Last message', class: 'wide', cell: (row) => <LastWords row={row} /> },
      ]}
    />
  )
}
