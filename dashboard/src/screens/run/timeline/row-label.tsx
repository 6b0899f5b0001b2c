import { formatDuration } from '../../../../../src/views/model/format.ts'
import type { TimelineRow } from '../../../../../src/views/model/timeline.ts'
import { runPath } from '../../../parts/run-cells.tsx'
import { lookOf } from '../../../parts/state-badge.tsx'
import { ROW_HEIGHT } from './sizes.ts'

const INDENT = 12
const DEEPEST = 8

/** What a row of the timeline is about: its name, how it stands, how long it took. */
export function RowLabel({
  row,
  top,
  selected,
  end,
  onSelect,
}: {
  readonly row: TimelineRow
  readonly top: number
  readonly selected: boolean
  readonly end: number
  onSelect(): void
}) {
  const { role, symbol, word } = lookOf(row.state)
  const from = row.bars[0]?.from
  const took =
    from === undefined
      ? undefined
      : formatDuration(Math.max(0, Math.min(end, row.bars.at(-1)!.to) - from) / 1000)
  return (
    <div
      role="listitem"
      class={`row-label ${row.kind} ${selected ? 'selected' : ''}`}
      style={{
        top: `${top}px`,
        height: `${ROW_HEIGHT}px`,
        paddingLeft: `${Math.min(row.depth, DEEPEST) * INDENT}px`,
      }}
    >
      <button
        type="button"
        class="quiet"
        aria-pressed={selected}
        aria-label={[row.name, word, row.error, took].filter(Boolean).join(', ')}
        title={[row.name, word, row.error].filter(Boolean).join(' · ')}
        onClick={onSelect}
      >
        <span class={`symbol ${role}`} aria-hidden="true">
          {symbol}
        </span>
        <span class="name">{row.name}</span>
        {took !== undefined && <span class="took number">{took}</span>}
      </button>
      {row.run_id !== undefined && (
        <a
          href={runPath(row.run_id)}
          aria-label={`Run of ${row.name}`}
          title={`Go to ${row.run_id}`}
        >
          ↗
        </a>
      )}
    </div>
  )
}
