import { httpStatusOf } from '../../contract/errors.ts'
import type { OutcomeMeta } from '../../contract/outcome.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { BodyError } from './exchange.ts'
import type { HttpAnswer } from './exchange.ts'

type Headers = { readonly [name: string]: string }

/** Where a refusal belongs to more than the error says. */
export type RefuseOptions = {
  /** Default: the status of the error's code. */
  readonly status?: number
  readonly headers?: Headers
  /** What was asked, as far as it is known. */
  readonly meta?: Pick<OutcomeMeta, 'tool' | 'version'>
}

/** The answer to a request that goes no further: an envelope like every other failure. */
export function refuse(
  error: ToolError,
  { status = httpStatusOf(error), headers, meta }: RefuseOptions = {},
): HttpAnswer {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    },
    body: JSON.stringify({
      ok: false,
      status: 'error',
      error: error.toObject(),
      meta: { ...(meta ?? { tool: '' }), duration_ms: 0 },
    }),
  }
}

/** The answer where reading the body failed, or the app itself did. */
export function refuseThrown(thrown: unknown, options: RefuseOptions = {}): HttpAnswer {
  if (thrown instanceof BodyError)
    return refuse(new ToolError('INVALID_INPUT', thrown.message), {
      ...options,
      status: thrown.status,
    })
  if (ToolError.is(thrown)) return refuse(thrown, options)
  // What went wrong inside is nothing for a stranger to read.
  return refuse(
    new ToolError('INTERNAL', 'the server failed to answer this request', { cause: thrown }),
    options,
  )
}

/** The refusal of a path that is not below the base path. */
export function outside(basePath: string): ToolError {
  return new ToolError('NOT_FOUND', `nothing is served outside ${basePath}`, {
    suggestion: `Ask below ${basePath}`,
  })
}
