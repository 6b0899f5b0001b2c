import type { RunRow } from '../../../../src/views/model/api.ts'
import { RunLink, Subject } from '../../parts/links.tsx'
import { Bar, LastWords, RunTime } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import type { Column } from '../../parts/table.tsx'
import { Dash } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

type Props = {
  readonly row: RunRow | undefined
  readonly index: number
  readonly selected: boolean
  onSelect(index: number, range: boolean): void
}

type RunColumn = Pick<Column<RunRow>, 'title' | 'cell'> & {
  readonly head: string
  readonly class: string
  /** Explains the cell of a row on hover. */
  tip?(row: RunRow): string
}

const COLUMNS: readonly RunColumn[] = [
  { head: 'State', class: 'state', cell: ({ state }) => <StateBadge state={state} /> },
  { head: 'Run', class: 'id', cell: ({ run_id: id }) => <RunLink id={id} /> },
  { head: 'Tool or workflow', class: 'what', cell: (row) => <Subject row={row} /> },
  {
    head: 'Started by',
    class: 'by',
    cell: ({ caller }) => <span class="dim">{caller ?? '–'}</span>,
  },
  {
    head: 'Started',
    class: 'started',
    cell: ({ started, created }) => <Ago at={started ?? created} />,
  },
  { head: 'Took', class: 'took right', cell: (row) => <RunTime row={row} /> },
  {
    head: 'Tries',
    title: 'Attempts',
    class: 'few right',
    tip: ({ attempt }) => `${attempt} attempts`,
    cell: ({ attempt }) => (attempt > 1 ? attempt : <span class="dim">{attempt}</span>),
  },
  {
    head: 'Files',
    title: 'Artifacts',
    class: 'few right',
    tip: ({ artifacts }) => `${artifacts} artifacts`,
    cell: ({ artifacts }) => (artifacts > 0 ? artifacts : <Dash />),
  },
  {
    head: 'Last message',
    class: 'last',
    cell: (row) => (
      <>
        <Bar percent={row.percent} label={`Progress of ${row.run_id}`} />
        <LastWords row={row} />
      </>
    ),
  },
]

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
      {COLUMNS.map(({ head, class: name, tip, cell }) => (
        <span key={head} role="cell" class={name} title={tip?.(row)}>
          {cell(row)}
        </span>
      ))}
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
        {COLUMNS.map(({ head, title, class: name }) => (
          <span key={head} role="columnheader" class={name} title={title} aria-label={title}>
            {head}
          </span>
        ))}
      </div>
    </div>
  )
}
