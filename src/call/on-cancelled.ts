import type { ReadingContext } from '../contract/context.ts'
import type { ToolError } from '../contract/tool-error.ts'
import { onAbort } from './on-abort.ts'
import { cancelled } from './running.ts'

/** Where a context keeps the way to hear of the end of its call that costs no AbortSignal. */
export const hearing: unique symbol = Symbol('toolable.hearing')

type Hearing = { readonly [hearing]?: (react: (reason: ToolError) => void) => () => void }

/** Calls `react` when the call of a context is cancelled or its time is up, at once where it is already; gives the function that stops it. Cheaper than `ctx.signal`, for handlers of ours that are called often. */
export function onCancelled(ctx: Pick<ReadingContext, 'signal'>, react: (reason: ToolError) => void): () => void {
  const listen = (ctx as Hearing)[hearing]
  if (listen) return listen(react)
  const { signal } = ctx
  const tell = (): void => react(cancelled(signal.reason))
  if (!signal.aborted) return onAbort(signal, tell)
  tell()
  return () => undefined
}
