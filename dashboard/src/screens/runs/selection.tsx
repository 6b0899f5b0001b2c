import { useEffect, useRef, useState } from 'preact/hooks'
import { isFinished } from '../../../../src/protocol/run-state.ts'
import type { RunRow } from '../../../../src/views/model/api.ts'
import { ActionButton, CopyButton, Quiet } from '../../parts/buttons.tsx'
import { runPath } from '../../parts/links.tsx'
import { announce } from '../../state/announce.ts'
import { post } from '../../state/api.ts'

/** The selected runs, as they are now. */
export type Selection = {
  readonly rows: readonly RunRow[]
  readonly all: boolean
  has(id: string): boolean
  /** Selects a row or lets it go; as a range, everything from the last one on. */
  toggle(index: number, range: boolean): void
  toggleAll(): void
  clear(): void
}

/** Keeps a selection, as long as the filter stays. */
export function useSelection(rows: readonly RunRow[], search: string): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const last = useRef(0)
  const clear = (): void => setIds(new Set())
  useEffect(clear, [search])
  const selected = ids.size === 0 ? [] : rows.filter(({ run_id }) => ids.has(run_id))
  const all = rows.length > 0 && selected.length === rows.length
  return {
    rows: selected,
    all,
    has: (id) => ids.has(id),
    toggle(index, range) {
      const row = rows[index]
      if (!row) return
      const next = new Set(ids)
      const isIn = !ids.has(row.run_id)
      const [from, to] = range
        ? [Math.min(last.current, index), Math.max(last.current, index)]
        : [index, index]
      for (const { run_id } of rows.slice(from, to + 1)) {
        if (isIn) next.add(run_id)
        else next.delete(run_id)
      }
      last.current = index
      setIds(next)
    },
    toggleAll: () => setIds(all ? new Set() : new Set(rows.map(({ run_id }) => run_id))),
    clear,
  }
}

const AT_ONCE = 4

/** What can be done with the runs that are selected. */
export function SelectionBar({
  rows,
  onClear,
}: {
  readonly rows: readonly RunRow[]
  onClear(): void
}) {
  const alive = rows.filter(({ state }) => !isFinished(state))
  const over = rows.filter(({ state }) => isFinished(state))
  return (
    <div class="selection" role="group" aria-label="Selected runs">
      <strong>{rows.length} selected</strong>
      <ActionButton
        label={`Cancel ${alive.length}`}
        danger
        disabled={alive.length === 0}
        confirm={`Cancel ${runs(alive.length)}?`}
        run={() => forAll(alive, 'cancelled', (path) => post(`${path}/cancel`))}
      />
      <ActionButton
        label={`Retry ${over.length}`}
        disabled={over.length === 0}
        confirm={`Start ${runs(over.length)} again, also where that changes or deletes something?`}
        run={() =>
          forAll(over, 'started again', (path) => post(`${path}/retry`, { confirm: true }))
        }
      />
      <CopyButton label="Copy ids" text={() => rows.map(({ run_id }) => run_id).join('\n')} />
      <CopyButton label="Copy as JSON" text={() => JSON.stringify(rows, null, 2)} />
      <Quiet onClick={onClear}>Clear selection</Quiet>
    </div>
  )
}

// A few at a time; refusals do not stop the others and are reported at the end.
async function forAll(
  rows: readonly RunRow[],
  done: string,
  act: (path: string) => Promise<unknown>,
): Promise<void> {
  const refused: string[] = []
  const left = [...rows]
  const work = async (): Promise<void> => {
    for (let row = left.shift(); row; row = left.shift()) {
      const { run_id } = row
      await act(runPath(run_id)).catch((error: unknown) =>
        refused.push(`${run_id}: ${error instanceof Error ? error.message : String(error)}`),
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  announce(`${runs(rows.length - refused.length)} ${done}`)
  if (refused.length > 0)
    throw new Error(
      `${rows.length - refused.length} of ${rows.length} ${done}. ${refused.slice(0, 3).join('; ')}${refused.length > 3 ? `; and ${refused.length - 3} more` : ''}`,
    )
}

function runs(amount: number): string {
  return amount === 1 ? '1 run' : `${amount} runs`
}
