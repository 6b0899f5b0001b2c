import { cancelled } from '../../call/running.ts'
import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ChildEnd, ChildReason } from '../../process/child-type.ts'
import { failureOfLimit } from '../../process/limits/limit-failure.ts'

type Explain = (
  end: ChildEnd,
  ctx: Pick<Context, 'signal'>,
  details: { readonly stderr?: string },
) => ToolError

const SMALLER = { action: 'retry_with_modified_input', fix: 'Ask the tool for less' } as const

const REASONS: { readonly [reason in ChildReason]?: Explain } = {
  'not-started': ({ problem }) =>
    ToolError.is(problem)
      ? problem
      : new ToolError(
          'CONFIG',
          `the program cannot be started: ${problem?.message ?? 'for an unknown reason'}`,
        ),
  cancelled: ({ problem }, { signal }) =>
    ToolError.is(problem)
      ? problem
      : problem
        ? new ToolError('INTERNAL', problem.message, { cause: problem })
        : cancelled(signal.reason),
  timeout: ({ duration }, _ctx, details) =>
    new ToolError('TIMEOUT', `the program was ended after ${Math.round(duration) / 1000} seconds`, {
      details,
    }),
  'stdout-limit': ({ stdout }, _ctx, details) =>
    new ToolError(
      'OUTPUT_LIMIT',
      `the program wrote more than ${stdout.length} bytes and was ended`,
      { details, suggestion: SMALLER },
    ),
  limit: ({ limit }) =>
    limit
      ? failureOfLimit(limit)
      : new ToolError('INTERNAL', 'the program used more than it may and was ended'),
  'line-limit': (_end, _ctx, details) =>
    new ToolError('OUTPUT_LIMIT', 'the program wrote a line that is too long and was ended', {
      details,
      suggestion: SMALLER,
    }),
}

/** The failure of a child that did not come to an end of its own; undefined for one that did. */
export function failureOfEnd(
  end: ChildEnd,
  ctx: Pick<Context, 'signal'>,
  stderr: string,
): ToolError | undefined {
  return REASONS[end.reason]?.(end, ctx, stderr === '' ? {} : { stderr: stderr.slice(-4000) })
}
