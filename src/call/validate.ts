import type { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { describeFailure } from './describe-failure.ts'
import { admit, enter } from './enter.ts'
import { withoutExit } from './exit-guard.ts'
import type { CallOptions } from './options.ts'
import { runCall } from './running.ts'

/** Whether an input would be accepted, the tool's own `preValidate` included. The tool does not run. */
export async function validateInput(definition: ToolDefinition, given: unknown, options: CallOptions = {}): Promise<ToolError | undefined> {
  try {
    await runCall(options.signal, (call) => withoutExit(call, async () => {
      const prepared = await admit(definition, given, options, call)
      await enter({ definition, prepared, options, gathered: { artifacts: [], plan: [], warnings: [] }, call, emit: () => undefined })
    }))
    return undefined
  } catch (error) {
    return describeFailure(error, definition.errors).error
  }
}
