import { useEffect, useState } from 'preact/hooks'
import { openRunList } from './run-list.ts'
import type { RunList, RunListState } from './run-list.ts'

const NOTHING: RunListState = { rows: [], held: [], loading: true }

/** The runs that a query means, kept true as long as the screen is shown. */
export function useRunList(query: string, options: { readonly first?: number } = {}): RunListState {
  const [list, setList] = useState<RunList>()
  useEffect(() => {
    const mine = openRunList(query, options)
    setList(mine)
    return () => mine.close()
  }, [query])
  return list?.state.value ?? NOTHING
}
