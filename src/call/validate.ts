import type { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { createContext } from './context.ts'
import { withoutExit } from './exit-guard.ts'
import { toToolError } from './failure.ts'
import type { CallOptions } from './options.ts'
import { prepareInput } from './prepare.ts'
import { runCall } from './running.ts'
import { createState } from './state.ts'

/** Whether an input would be accepted, the tool's own `preValidate` included. The tool does not run. */
export async function validateInput(definition: ToolDefinition, given: unknown, options: CallOptions = {}): Promise<ToolError | undefined> {
  try {
    await runCall(options.signal, (call) => withoutExit(call.fail, async () => {
      const prepared = await prepareInput(definition, given, options)
      if (prepared.limit !== undefined) call.limitTo(prepared.limit)
      const input = prepared.input as never
      const extra = definition.hooks.context ? await definition.hooks.context(input) : {}
      const gathered = { artifacts: [], plan: [], warnings: [] }
      const context = createContext({ tool: definition.name, options, state: createState(), cwd: prepared.cwd, dryRun: prepared.dryRun, verbose: prepared.verbose, gathered, signal: call.signal, deadline: call.deadline, emit: () => undefined }, extra)
      await definition.hooks.preValidate?.(input, context)
    }))
    return undefined
  } catch (error) {
    return toToolError(error)
  }
}
