import { useEffect, useRef, useState } from 'preact/hooks'
import type { RunRow } from '../../../../src/views/model/api.ts'

/** The runs that somebody has selected, as they are now. */
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
