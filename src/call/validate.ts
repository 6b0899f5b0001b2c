import type { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { describeFailure } from './describe-failure.ts'
import { admit, enter } from './enter.ts'
import { withoutExit } from './exit-guard.ts'
import type { CallOptions } from './options.ts'
import { runCall } from './running.ts'
import { Stay } from './state/stay.ts'

/** Whether an input would be accepted, the tool's own `preValidate` included. The tool does not run. */
export async function validateInput(
  definition: ToolDefinition,
  given: unknown,
  { guards: _guards, onEvent: _onEvent, ...options }: CallOptions = {},
): Promise<ToolError | undefined> {
  let stay: Stay | undefined
  try {
    await runCall(options.signal, (call) =>
      withoutExit(call, async () => {
        const prepared = await admit(definition, given, options, call)
        stay = new Stay(options.state, true, call)
        await enter({
          definition,
          prepared,
          options,
          gathered: { artifacts: [], plan: [] },
          call,
          stay,
        })
      }),
    )
    return undefined
  } catch (error) {
    return describeFailure(error, definition.errors).error
  } finally {
    await Promise.resolve(stay?.leave()).catch(() => undefined)
  }
}
