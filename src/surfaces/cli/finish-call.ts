import type { DialectContext } from '../../contract/dialects/dialect.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { exitStatus, printOutcome } from './print-outcome.ts'
import type { ToolCall } from './tool-call.ts'

/** Prints the outcome of a call, a failure with the command that would go on; gives the exit status. */
export async function finishCall(
  outcome: Outcome,
  call: ToolCall,
  context: DialectContext,
  streamed: boolean,
): Promise<number> {
  const paste = outcome.ok ? undefined : await import('./paste.ts')
  const complete = withWarnings(paste?.withCommand(outcome, call) ?? outcome, call.warnings)
  const renderInput =
    paste &&
    ((repaired: { readonly [field: string]: unknown }): string => paste.pasteable(call, repaired))
  await printOutcome(complete, {
    io: call.io,
    presentation: call.presentation,
    context,
    streamed,
    quiet: call.globals.quiet === true,
    renderInput,
    renderResult: call.renderResult,
    observer: call.observer,
  })
  return exitStatus(complete, call.origin)
}

function withWarnings(outcome: Outcome, warnings: readonly string[]): Outcome {
  if (warnings.length === 0) return outcome
  return {
    ...outcome,
    meta: { ...outcome.meta, warnings: [...warnings, ...(outcome.meta.warnings ?? [])] },
  }
}
