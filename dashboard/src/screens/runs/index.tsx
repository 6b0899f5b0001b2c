import { useEffect, useRef, useState } from 'preact/hooks'
import { parseRunFilter } from '../../../../src/views/model/run-filter.ts'
import { Empty, Loading, Problem } from '../../parts/notes.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { announce } from '../../state/announce.ts'
import { serverTime } from '../../state/clock.ts'
import { useKeys } from '../../state/keys.ts'
import { isNarrow } from '../../state/media.ts'
import type { RunList } from '../../state/run-list.ts'
import { getListLength, openRunList } from '../../state/run-list.ts'
import type { ScreenProps } from '../table.tsx'
import { ChosenFilters, FilterFields, filterQuery, SearchBox, StateButtons } from './filters.tsx'
import { RunHeads, RunRowCells } from './run-row.tsx'
import { SelectionBar, useSelection } from './selection.tsx'

const AHEAD = 100

/** All runs, newest first, with filters that stand in the address. */
export default function RunsScreen({ query }: ScreenProps) {
  const search = filterQuery(query)
  const kept = keptList(search)
  const { rows, held, counts, error, loading } = kept.list.state.value
  const count = getListLength(kept.list.state.value, search)
  const table = useRef<HTMLDivElement>(null)
  const [jump, setJump] = useState<{ readonly index: number; readonly place?: 'top' } | undefined>(
    kept.top > 0 ? { index: kept.top, place: 'top' } : undefined,
  )
  const selection = useSelection(rows, search)
  const focusAt = (index: number): void => {
    if (!rows[index]) return
    setJump({ index })
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        table.current?.querySelector<HTMLElement>(`[data-row="${index}"] .id a`)?.focus(),
      ),
    )
  }
  const showNew = (): void => {
    kept.list.showHeld()
    setJump({ index: 0, place: 'top' })
  }
  useKeys([
    { key: 'j', label: 'Next run', run: () => focusAt(focused() + 1) },
    { key: 'k', label: 'Run before', run: () => focusAt(Math.max(0, focused() - 1)) },
    {
      key: 'x',
      label: 'Select the run',
      run: () => focused() >= 0 && selection.toggle(focused(), false),
    },
    { key: 'n', label: 'Show new runs', run: showNew },
    { key: 'Escape', label: 'Select nothing', run: selection.clear },
  ])
  useEffect(() => {
    if (held.length > 0) announce(`${held.length} new ${held.length === 1 ? 'run' : 'runs'}`)
  }, [held.length])
  const chosen = parseRunFilter(query, serverTime()).states ?? []
  return (
    <>
      <div class="title-row">
        <h1>Runs</h1>
        <StateButtons counts={counts} chosen={chosen} />
      </div>
      <div class="filters">
        <SearchBox text={query.get('text') ?? ''} />
        <details class="more">
          <summary>Filters</summary>
          <FilterFields query={query} rows={rows} />
        </details>
        <ChosenFilters query={query} search={search} />
        {held.length > 0 && (
          <button type="button" class="primary push" onClick={showNew}>
            {held.length} new
          </button>
        )}
      </div>
      {error && <Problem error={error} />}
      {selection.rows.length > 0 && (
        <SelectionBar rows={selection.rows} onClear={selection.clear} />
      )}
      {count === 0 &&
        !error &&
        (loading ? (
          <Loading />
        ) : (
          <Empty title={search === '' ? 'No runs yet' : 'No run fits this filter'}>
            <p>
              {search === '' ? (
                <>
                  Start one with <code>toolable run</code>, or from <a href="/tools">Tools</a>.
                </>
              ) : (
                <a href="/runs">Show all runs</a>
              )}
            </p>
          </Empty>
        ))}
      {count > 0 && (
        <div class="run-list" role="table" aria-label="Runs" aria-rowcount={count + 1} ref={table}>
          <RunHeads all={selection.all} onAll={selection.toggleAll} />
          <VirtualList
            kind="rows"
            label="Runs"
            count={count}
            rowHeight={isNarrow.value ? 64 : 34}
            jump={jump}
            onRange={(_first, last, top) => {
              kept.list.loadTo(last + AHEAD)
              kept.top = top
            }}
            render={(index) => (
              <RunRowCells
                row={rows[index]}
                index={index}
                selected={rows[index] !== undefined && selection.has(rows[index].run_id)}
                onSelect={selection.toggle}
              />
            )}
          />
        </div>
      )}
    </>
  )
}

// The row that has the focus; -1 where none has.
function focused(): number {
  const row = document.activeElement?.closest<HTMLElement>('[data-row]')
  return row ? Number(row.dataset['row']) : -1
}

type Kept = { readonly query: string; readonly list: RunList; top: number }

let kept: Kept | undefined

/**
 * The list of a query. The last one stays open when its screen is left, so that coming back finds
 * it unchanged.
 */
export function keptList(query: string): Kept {
  if (kept?.query !== query) {
    kept?.list.close()
    kept = { query, list: openRunList(query, { hold: true }), top: 0 }
  }
  return kept
}
