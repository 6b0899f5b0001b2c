import type { Context } from '../contract/context.ts'
import { toMilliseconds } from '../contract/duration.ts'
import type { ToolEvent } from '../contract/events.ts'
import type { State } from '../contract/state.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { after } from './after.ts'
import { CallContext } from './context.ts'
import type { Gathered } from './context.ts'
import { checkGuards } from './guards/check-guards.ts'
import type { Asked } from './guards/check-guards.ts'
import { Guarded } from './guards/guarded.ts'
import { readGuards } from './guards/read-guards.ts'
import type { CallOptions } from './options.ts'
import { prepareInput } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import type { RunningCall } from './running.ts'

/** Starts the clock of a call and checks its input; throws INVALID_INPUT, MISSING_PARAM or INVALID_PATH. */
export function admit(definition: ToolDefinition, given: unknown, options: CallOptions, call: RunningCall): Prepared | Promise<Prepared> {
  if (options.timeout !== undefined) call.limitTo(toMilliseconds(options.timeout, 'timeout'), 'caller')
  if (definition.timeout !== undefined) call.limitTo(definition.timeout, 'tool')
  const limit = (prepared: Prepared): Prepared => {
    if (prepared.limit !== undefined) call.limitTo(prepared.limit, 'input')
    return prepared
  }
  return after(prepareInput(definition, given, options), limit)
}

export type Entering = {
  readonly definition: ToolDefinition
  readonly prepared: Prepared
  readonly options: CallOptions
  readonly gathered: Gathered
  readonly call: RunningCall
  /** The state as the call sees it. */
  state(): State
  emit(event: ToolEvent): void | Promise<void>
}

/** Builds the context and asks the tool's own `preValidate` and then the guards: all that comes before consent and handler. */
export function enter(entering: Entering): Entered | Promise<Entered> {
  const { definition: { hooks }, options: { guards } } = entering
  return hooks.context || hooks.preValidate || isGuarded(guards) ? enterByHooks(entering) : { context: contextOf(entering, {}), asked: undefined }
}

/** `asked` is there where guards were asked. */
export type Entered = { readonly context: Context; readonly asked: Asked | undefined }

async function enterByHooks(entering: Entering): Promise<Entered> {
  const { definition, prepared, options } = entering
  const { hooks } = definition
  const input = prepared.input as never
  const context = contextOf(entering, (await hooks.context?.(input)) ?? {})
  await hooks.preValidate?.(input, context)
  if (!isGuarded(options.guards)) return { context, asked: undefined }
  const asked = { guards: readGuards(options.guards), call: new Guarded(definition, prepared.input, context, options.state !== undefined) }
  await checkGuards(asked)
  return { context, asked }
}

// What is no list must not pass for an empty one.
function isGuarded(guards: CallOptions['guards']): guards is NonNullable<CallOptions['guards']> {
  return guards !== undefined && !(Array.isArray(guards) && guards.length === 0)
}

function contextOf({ definition, prepared: { cwd, dryRun, verbose }, options, gathered, call, state, emit }: Entering, extra: { readonly [key: string]: unknown }): Context {
  return new CallContext({ tool: definition.name, options, state, cwd, dryRun, verbose, gathered, call, emit }, extra)
}
