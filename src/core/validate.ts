import type { ToolDefinition } from '../define/tool-types.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import { runWithExitGuard } from './call-scope.ts'
import type { CallOptions } from './call.ts'
import { acceptInput, admitCall } from './invoke.ts'
import { runCall } from './lifecycle.ts'
import { describeFailure } from './result.ts'
import { CallState } from './state/transaction.ts'

/**
 * Whether an input would be accepted, the tool's own `preValidate` included. The tool does not run.
 */
export async function validateInput(
  definition: ToolDefinition,
  given: unknown,
  { guards: _guards, onEvent: _onEvent, ...options }: CallOptions = {},
): Promise<ToolError | undefined> {
  let callState: CallState | undefined
  try {
    await runCall(options.signal, (call) =>
      runWithExitGuard(call, async () => {
        const prepared = await acceptInput(definition, given, options, call)
        callState = new CallState(options.state, true, call)
        await admitCall({
          definition,
          prepared,
          options,
          collected: { artifacts: [], plan: [] },
          call,
          callState,
          context: undefined,
          guardCheck: undefined,
        })
      }),
    )
    return undefined
  } catch (error) {
    return describeFailure(error, definition.errors).error
  } finally {
    await Promise.resolve(callState?.leave()).catch(() => undefined)
  }
}
