import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../state/api.ts'

/** Says that something is on its way, once it takes long enough to be noticed. */
export function Loading({ what = 'Loading' }: { readonly what?: string | undefined }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 300)
    return () => clearTimeout(timer)
  }, [])
  return (
    <p class="loading dim" role="status">
      {late ? `${what} …` : ''}
    </p>
  )
}

/** Says that there is nothing, and what would make something. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  )
}

/** Says what went wrong, and what to do about it. */
export function Problem({
  error,
  children,
}: {
  readonly error: unknown
  readonly children?: ComponentChildren
}) {
  const fix = error instanceof ApiError ? error.fix : undefined
  return (
    <div class="problem" role="alert">
      <p>
        {error instanceof ApiError && <code>{error.code}</code>}{' '}
        {error instanceof Error ? error.message : String(error)}
      </p>
      {fix !== undefined && <p class="fix">{fix}</p>}
      {children}
    </div>
  )
}

/** Stands for a document that is not here: why it is not, or that it is on its way. */
export function Missing({
  error,
  what,
  children,
}: {
  readonly error: unknown
  readonly what?: string
  /** Where to go instead. */
  readonly children?: ComponentChildren
}) {
  if (error === undefined) return <Loading what={what} />
  return <Problem error={error}>{children && <p>{children}</p>}</Problem>
}
