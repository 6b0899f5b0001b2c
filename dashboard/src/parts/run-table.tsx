import type { RunRow } from '../../../src/views/model/api.ts'
import { LastWords, RunLink, RunTime, Subject } from './run-cells.tsx'
import { StateBadge } from './state-badge.tsx'
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
    <div class="scroll-x">
      <table class="runs" aria-label={label}>
        <thead>
          <tr>
            <th>State</th>
            <th>Run</th>
            <th>Tool or workflow</th>
            <th>Started by</th>
            <th>Started</th>
            <th class="right">Took</th>
            <th class="wide">Last message</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.run_id}>
              <td>
                <StateBadge state={row.state} />
              </td>
              <td>
                <RunLink id={row.run_id} />
              </td>
              <td>
                <Subject row={row} />
              </td>
              <td class="dim">{row.caller ?? '–'}</td>
              <td>
                <Ago at={row.started ?? row.created} />
              </td>
              <td class="right">
                <RunTime row={row} />
              </td>
              <td class="wide">
                <LastWords row={row} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
