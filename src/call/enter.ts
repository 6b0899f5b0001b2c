import type { Context } from '../contract/context.ts'
import { toMilliseconds } from '../contract/duration.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { createContext } from './context.ts'
import type { Gathered } from './context.ts'
import type { CallOptions } from './options.ts'
import { prepareInput } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import type { RunningCall } from './running.ts'
import { createState } from './state.ts'
import { beginTransaction } from './transaction.ts'
import type { Transaction } from './transaction.ts'

/** Starts the clock of a call and checks its input; throws INVALID_INPUT, MISSING_PARAM or INVALID_PATH. */
export async function admit(definition: ToolDefinition, given: unknown, options: CallOptions, call: RunningCall): Promise<Prepared> {
  if (options.timeout !== undefined) call.limitTo(toMilliseconds(options.timeout, 'timeout'))
  if (definition.timeout !== undefined) call.limitTo(definition.timeout)
  const prepared = await prepareInput(definition, given, options)
  if (prepared.limit !== undefined) call.limitTo(prepared.limit)
  return prepared
}

export type Entering = {
  readonly definition: ToolDefinition
  readonly prepared: Prepared
  readonly options: CallOptions
  readonly gathered: Gathered
  readonly call: RunningCall
  emit(event: ToolEvent): void | Promise<void>
}

/** Opens the state, builds the context and asks the tool's own `preValidate`: all that comes before the handler. */
export async function enter({ definition, prepared, options, gathered, call, emit }: Entering): Promise<{ readonly context: Context; readonly transaction: Transaction }> {
  const input = prepared.input as never
  const transaction = beginTransaction(options.state ?? createState(), () => call.over)
  const extra = (await definition.hooks.context?.(input)) ?? {}
  const { cwd, dryRun, verbose } = prepared
  const context = createContext({ tool: definition.name, options, state: transaction.state, cwd, dryRun, verbose, gathered, call, emit }, extra)
  await definition.hooks.preValidate?.(input, context)
  return { context, transaction }
}
