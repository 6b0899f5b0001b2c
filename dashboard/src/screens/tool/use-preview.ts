import { useEffect, useState } from 'preact/hooks'
import type { InputPreview } from '../../../../src/views/model/api.ts'
import { ApiError, post } from '../../state/api.ts'

const PAUSE_MS = 150

/**
 * What the server makes of an input, asked for when nobody has typed for a moment; the last answer
 * stays until the next one.
 */
export function usePreview(
  id: string,
  input: unknown,
): { readonly preview?: InputPreview; readonly error?: ApiError } {
  const [held, setHeld] = useState<{ readonly preview?: InputPreview; readonly error?: ApiError }>(
    {},
  )
  const text = JSON.stringify(input)
  useEffect(() => {
    if (text === undefined) return undefined
    let isOld = false
    const timer = setTimeout(() => {
      void post<InputPreview>(`/tools/${encodeURIComponent(id)}/preview`, { input }).then(
        (preview) => {
          if (!isOld) setHeld({ preview })
        },
        (error: unknown) => {
          if (!isOld)
            setHeld({
              error: error instanceof ApiError ? error : new ApiError(0, 'INTERNAL', String(error)),
            })
        },
      )
    }, PAUSE_MS)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [id, text])
  return held
}
