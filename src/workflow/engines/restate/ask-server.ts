import { ToolError } from '../../../contract/tool-error.ts'
import { request } from '../../../registry/http/request.ts'
import type { HttpAnswer } from '../../../registry/http/request.ts'

/** A place of a Restate server. */
export type Server = {
  readonly url: string
  readonly who: string
  /** What names it on the command line. */ readonly flag: string
}

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: { readonly [name: string]: string }
  readonly signal: AbortSignal
  /** Milliseconds. */ readonly timeout: number
}

/** Sends one request, and gives the whole answer, whatever its status. Throws DEPENDENCY, TIMEOUT and OUTPUT_LIMIT, and what the signal says. */
export async function askServer(
  { url, who, flag }: Server,
  { method, path, body, headers, signal, timeout }: Asked,
): Promise<HttpAnswer> {
  const target = new URL(url.replace(/\/+$/, '') + path)
  try {
    return await request({
      url: target,
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      timeout,
      who,
    })
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'DEPENDENCY' || !error.retryable) throw error
    throw new ToolError('DEPENDENCY', error.message, {
      suggestion: `Start the server (npx @restatedev/restate-server), or name another one with ${flag}`,
      cause: error,
    })
  }
}

/** Tries again what may pass by itself, with longer and longer pauses between. */
export async function persistently<Result>(
  work: () => Promise<Result>,
  {
    tries = 4,
    pause = 250,
    longest = 5_000,
    signal,
    onFailure,
  }: {
    readonly tries?: number
    readonly pause?: number
    readonly longest?: number
    readonly signal: AbortSignal
    readonly onFailure?: (error: ToolError) => void
  },
): Promise<Result> {
  for (let count = 1, wait = pause; ; count += 1, wait = Math.min(wait * 2, longest)) {
    try {
      return await work()
    } catch (error) {
      if (!ToolError.is(error) || !error.retryable || count >= tries || signal.aborted) throw error
      onFailure?.(error)
    }
    await sleep(wait, signal)
  }
}

/** Waits; rejects with the reason of the signal. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
