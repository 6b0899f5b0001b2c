import { useEffect, useRef, useState } from 'preact/hooks'
import { compact } from '../../../src/util/values.ts'
import type { RunRow } from '../../../src/views/model/api.ts'
import { ApiError, get } from './api.ts'
import { onRows, resets } from './stream.ts'

/** A document of the server, as far as it is here. */
export type Resource<Document> = {
  readonly value?: Document
  readonly error?: ApiError
  readonly loading: boolean
  reload(): void
}

type Held<Document> = {
  readonly path: string | undefined
  readonly loading: boolean
  readonly value?: Document
  readonly error?: ApiError
}

/**
 * Asks for a document, and again when the path changes, after a restart of the server, and on
 * `reload`; what is known stays until the new one is here.
 */
export function useDocument<Document>(path: string | undefined): Resource<Document> {
  const [held, setHeld] = useState<Held<Document>>({ path: undefined, loading: false })
  const restarts = resets.value
  const ask = useRef(() => {})
  const reload = useRef(() => ask.current()).current
  useEffect(() => {
    if (path === undefined) return undefined
    const stop = new AbortController()
    let busy = false
    let again = false
    const run = async (): Promise<void> => {
      // A question that is on its way is not given up for the next one: with many of them none
      // would ever be answered.
      again = busy
      if (busy) return
      busy = true
      setHeld((before) =>
        before.path === path ? { ...before, loading: true } : { path, loading: true },
      )
      const next = await get<Document>(path, stop.signal).then(
        (value) => ({ value }),
        (error: unknown) => ({
          error: error instanceof ApiError ? error : new ApiError(0, 'INTERNAL', String(error)),
        }),
      )
      busy = false
      if (stop.signal.aborted) return
      // A server that is away for a moment takes nothing away that was seen.
      setHeld((before) =>
        'error' in next && next.error.code === 'OFFLINE' && before.value !== undefined
          ? { ...before, loading: false }
          : { path, loading: false, ...next },
      )
      if (again) void run()
    }
    ask.current = () => void run()
    void run()
    return () => {
      ask.current = () => {}
      stop.abort()
    }
  }, [path, restarts])
  const isMine = held.path === path
  return compact({
    value: isMine ? held.value : undefined,
    error: isMine ? held.error : undefined,
    loading: path !== undefined && (!isMine || held.loading),
    reload,
  })
}

const WAIT_MS = 400

/** Reloads a document when runs that concern it change; many changes cause one reload. */
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
