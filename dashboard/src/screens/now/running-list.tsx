import type { RunRow } from '../../../../src/views/model/api.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Bar, Heartbeat, LastWords, RunLink, RunTime, Subject } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Until } from '../../parts/time.tsx'
import { post } from '../../state/api.ts'

/** What runs: how far it is, what it said last, and whether it is alive. */
export function RunningList({
  rows,
  more,
}: {
  readonly rows: readonly RunRow[]
  readonly more: number
}) {
  return (
    <>
      <ul class="running card" aria-label="Running">
        {rows.map((row) => (
          <Running key={row.run_id} row={row} />
        ))}
      </ul>
      {more > 0 && (
        <p>
          <a href="/runs?state=running,queued,waiting_ai">{more} more</a>
        </p>
      )}
    </>
  )
}

function Running({ row }: { readonly row: RunRow }) {
  const isRunning = row.state === 'running'
  return (
    <li>
      <div class="who">
        <StateBadge state={row.state} />
        <Subject row={row} />
        <RunLink id={row.run_id} />
      </div>
      <div class="how">
        {row.percent !== undefined && (
          <Bar percent={row.percent} label={`Progress of ${row.run_id}`} />
        )}
        <LastWords row={row} />
      </div>
      <div class="when">
        <span title="Running for">
          <span class="hidden">running for </span>
          <RunTime row={row} />
        </span>
        {isRunning ? <Heartbeat heard={row.heard} grace={row.grace_s} /> : <span />}
        {row.deadline !== undefined && isRunning ? (
          <span class="dim" title="Until it is ended">
            ends in <Until at={row.deadline} over="over" />
          </span>
        ) : (
          <span />
        )}
        <ActionButton
          label="Cancel"
          danger
          confirm="Cancel it?"
          title={`Cancel ${row.run_id}`}
          run={() => post(`/runs/${encodeURIComponent(row.run_id)}/cancel`)}
        />
      </div>
    </li>
  )
}
