import type { Context } from '../contract/context.ts'
import { toMilliseconds } from '../contract/duration.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { State } from '../contract/state.ts'
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
export function admit(definition: ToolDefinition, given: unknown, options: CallOptions, call: RunningCall): Prepared | Promise<Prepared> {
  if (options.timeout !== undefined) call.limitTo(toMilliseconds(options.timeout, 'timeout'))
  if (definition.timeout !== undefined) call.limitTo(definition.timeout)
  const limit = (prepared: Prepared): Prepared => {
    if (prepared.limit !== undefined) call.limitTo(prepared.limit)
    return prepared
  }
  const prepared = prepareInput(definition, given, options)
  return prepared instanceof Promise ? prepared.then(limit) : limit(prepared)
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
export function enter(entering: Entering): Entered | Promise<Entered> {
  const { definition: { hooks }, options, call } = entering
  const transaction = options.state && beginTransaction(options.state, () => call.over)
  return hooks.context || hooks.preValidate ? enterByHooks(entering, transaction) : { context: contextOf(entering, transaction, {}), transaction }
}

/** `transaction` is there where the state outlives the call. */
export type Entered = { readonly context: Context; readonly transaction: Transaction | undefined }

async function enterByHooks(entering: Entering, transaction: Transaction | undefined): Promise<Entered> {
  const { definition: { hooks }, prepared } = entering
  const input = prepared.input as never
  const context = contextOf(entering, transaction, (await hooks.context?.(input)) ?? {})
  await hooks.preValidate?.(input, context)
  return { context, transaction }
}

function contextOf({ definition, prepared: { cwd, dryRun, verbose }, options, gathered, call, emit }: Entering, transaction: Transaction | undefined, extra: { readonly [key: string]: unknown }): Context {
  let own: State | undefined
  const state = (): State => transaction?.state ?? (own ??= beginTransaction(createState(), () => call.over).state)
  return createContext({ tool: definition.name, options, state, cwd, dryRun, verbose, gathered, call, emit }, extra)
}
