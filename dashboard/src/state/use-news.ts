import { useEffect } from 'preact/hooks'
import type { RunRow } from '../../../src/views/model/api.ts'
import { onRows } from './stream.ts'

const WAIT_MS = 400

/**
 * Asks for a document again when runs that concern it have news; many at once are asked about once.
 */
export function useNews(reload: () => void, concerns: (row: RunRow) => boolean = () => true): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onRows(({ rows, removed }) => {
      if (timer !== undefined || (removed.length === 0 && !rows.some(concerns))) return
      timer = setTimeout(() => {
        timer = undefined
        reload()
      }, WAIT_MS)
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [])
}
