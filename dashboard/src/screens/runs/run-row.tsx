import type { RunRow } from '../../../../src/views/model/api.ts'
import { RunLink, Subject } from '../../parts/links.tsx'
import { Bar, LastWords, RunTime } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Ago } from '../../parts/time.tsx'

type Props = {
  readonly row: RunRow | undefined
  readonly index: number
  readonly selected: boolean
  onSelect(index: number, range: boolean): void
}

/** One run in the list; a row that is not here yet holds its place. */
export function RunRowCells({ row, index, selected, onSelect }: Props) {
  if (!row)
    return (
      <div class="cells away" role="cell" aria-busy="true">
        …
      </div>
    )
  return (
    <div class={selected ? 'cells selected' : 'cells'} role="presentation" data-row={index}>
      <span role="cell" class="select">
        <input
          type="checkbox"
          aria-label={`Select ${row.run_id}`}
          checked={selected}
          onClick={(event) => onSelect(index, event.shiftKey)}
        />
      </span>
      <span role="cell" class="state">
        <StateBadge state={row.state} />
      </span>
      <span role="cell" class="id">
        <RunLink id={row.run_id} />
      </span>
      <span role="cell" class="what">
        <Subject row={row} />
      </span>
      <span role="cell" class="by dim">
        {row.caller ?? '–'}
      </span>
      <span role="cell" class="started">
        <Ago at={row.started ?? row.created} />
      </span>
      <span role="cell" class="took right">
        <RunTime row={row} />
      </span>
      <span role="cell" class="few right" title={`${row.attempt} attempts`}>
        {row.attempt > 1 ? row.attempt : <span class="dim">{row.attempt}</span>}
      </span>
      <span role="cell" class="few right" title={`${row.artifacts} artifacts`}>
        {row.artifacts > 0 ? row.artifacts : <span class="dim">–</span>}
      </span>
      <span role="cell" class="last">
        {row.percent !== undefined && (
          <Bar percent={row.percent} label={`Progress of ${row.run_id}`} />
        )}
        <LastWords row={row} />
      </span>
    </div>
  )
}

/** The heads of the columns. */
export function RunHeads({ all, onAll }: { readonly all: boolean; onAll(): void }) {
  return (
    <div role="rowgroup">
      <div class="cells heads" role="row" aria-rowindex={1}>
        <span role="columnheader" class="select">
          <input
            type="checkbox"
            aria-label="Select all that are loaded"
            checked={all}
            onClick={onAll}
          />
        </span>
        <span role="columnheader" class="state">
          State
        </span>
        <span role="columnheader" class="id">
          Run
        </span>
        <span role="columnheader" class="what">
          Tool or workflow
        </span>
        <span role="columnheader" class="by">
          Started by
        </span>
        <span role="columnheader" class="started">
          Started
        </span>
        <span role="columnheader" class="took right">
          Took
        </span>
        <span role="columnheader" class="few right" title="Attempts" aria-label="Attempts">
          Tries
        </span>
        <span role="columnheader" class="few right" title="Artifacts" aria-label="Artifacts">
          Files
        </span>
        <span role="columnheader" class="last">
          Last message
        </span>
      </div>
    </div>
  )
}
