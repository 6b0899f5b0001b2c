import { openRunList } from '../../state/run-list.ts'
import type { RunList } from '../../state/run-list.ts'

type Kept = { readonly query: string; readonly list: RunList; top: number }

let kept: Kept | undefined

/**
 * The list of a query. The last one stays open when its screen is left, so that whoever comes back
 * finds it where it was.
 */
export function keptList(query: string): Kept {
  if (kept?.query !== query) {
    kept?.list.close()
    kept = { query, list: openRunList(query, { hold: true }), top: 0 }
  }
  return kept
}
