import { toMilliseconds } from '../contract/duration.ts'
import type { ToolError } from '../contract/tool-error.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { createContext } from './context.ts'
import { describeFailure } from './describe-failure.ts'
import { withoutExit } from './exit-guard.ts'
import type { CallOptions } from './options.ts'
import { prepareInput } from './prepare.ts'
import { runCall } from './running.ts'
import { createState } from './state.ts'
import { beginTransaction } from './transaction.ts'

/** Whether an input would be accepted, the tool's own `preValidate` included. The tool does not run. */
export async function validateInput(definition: ToolDefinition, given: unknown, options: CallOptions = {}): Promise<ToolError | undefined> {
  try {
    await runCall(options.signal, (call) => withoutExit(call.fail, async () => {
      if (options.timeout !== undefined) call.limitTo(toMilliseconds(options.timeout, 'timeout'))
      if (definition.timeout !== undefined) call.limitTo(definition.timeout)
      const prepared = await prepareInput(definition, given, options)
      if (prepared.limit !== undefined) call.limitTo(prepared.limit)
      const input = prepared.input as never
      const extra = (await definition.hooks.context?.(input)) ?? {}
      const gathered = { artifacts: [], plan: [], warnings: [] }
      const context = createContext({ tool: definition.name, options, state: beginTransaction(options.state ?? createState(), () => call.over).state, cwd: prepared.cwd, dryRun: prepared.dryRun, verbose: prepared.verbose, gathered, call, emit: () => undefined }, extra)
      await definition.hooks.preValidate?.(input, context)
    }))
    return undefined
  } catch (error) {
    return describeFailure(error, definition.errors).error
  }
}
