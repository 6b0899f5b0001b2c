import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get } from './api.ts'
import { resets } from './stream.ts'

/** A document of the server, as far as it is here. */
export type Resource<Document> = { readonly value?: Document; readonly error?: ApiError; readonly loading: boolean; reload(): void }

type Held<Document> = { readonly path: string | undefined; readonly value?: Document; readonly error?: ApiError }

/** Asks for a document, and again when the path changes, after a restart of the server, and on `reload`; what is known stays until the new one is here. */
export function useDocument<Document>(path: string | undefined): Resource<Document> {
  const [held, setHeld] = useState<Held<Document>>({ path: undefined })
  const [asked, setAsked] = useState(0)
  const [loading, setLoading] = useState(path !== undefined)
  const restarts = resets.value
  const reload = useRef(() => setAsked((times) => times + 1)).current
  useEffect(() => {
    if (path === undefined) return undefined
    const stop = new AbortController()
    setLoading(true)
    void get<Document>(path, stop.signal)
      .then((value) => ({ path, value }), (error: unknown) => ({ path, error: error instanceof ApiError ? error : new ApiError(0, 'INTERNAL', String(error)) }))
      .then((next: Held<Document>) => {
        if (stop.signal.aborted) return
        // A server that is away for a moment takes nothing away that was seen.
        setHeld((before) => (next.error?.code === 'OFFLINE' && before.path === path && before.value !== undefined ? before : next))
        setLoading(false)
      })
    return () => stop.abort()
  }, [path, asked, restarts])
  const mine = held.path === path
  return { ...(mine && held.value !== undefined && { value: held.value }), ...(mine && held.error && { error: held.error }), loading: loading || (path !== undefined && !mine), reload }
}
