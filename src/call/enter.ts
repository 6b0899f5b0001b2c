import type { Context } from '../contract/context.ts'
import { toMilliseconds } from '../contract/duration.ts'
import type { ToolDefinition } from '../define/tool-type.ts'
import { after } from './after.ts'
import { CallContext } from './context.ts'
import type { Entering } from './context.ts'
import { checkGuards } from './guards/check-guards.ts'
import type { Asked } from './guards/check-guards.ts'
import { Guarded } from './guards/guarded.ts'
import { readGuards } from './guards/read-guards.ts'
import type { CallOptions } from './options.ts'
import { prepareInput } from './prepare.ts'
import type { Prepared } from './prepare.ts'
import type { RunningCall } from './running.ts'

/** Starts the clock of a call and checks its input; throws INVALID_INPUT, MISSING_PARAM or INVALID_PATH. */
export function admit(
  definition: ToolDefinition,
  given: unknown,
  options: CallOptions,
  call: RunningCall,
): Prepared | Promise<Prepared> {
  if (options.timeout !== undefined)
    call.limitTo(toMilliseconds(options.timeout, 'timeout'), 'caller')
  if (definition.timeout !== undefined) call.limitTo(definition.timeout, 'tool')
  return after(prepareInput(definition, given, options), limit, call)
}

function limit(prepared: Prepared, call: RunningCall): Prepared {
  if (prepared.limit !== undefined) call.limitTo(prepared.limit, 'input')
  return prepared
}

/** A call that may go on to its handler; `asked` is there where guards were asked. */
export type Entered<Call extends Entering = Entering> = {
  readonly entering: Call
  readonly context: Context
  readonly asked: Asked | undefined
}

/** Builds the context and asks the tool's own `preValidate` and then the guards: all that comes before consent and handler. */
export function enter<Call extends Entering>(
  entering: Call,
): Entered<Call> | Promise<Entered<Call>> {
  const { context, preValidate } = entering.definition.hooks
  return context || preValidate
    ? enterByHooks(entering)
    : askGuards(entering, new CallContext(entering, NOTHING))
}

const NOTHING = Object.freeze({})

async function enterByHooks<Call extends Entering>(entering: Call): Promise<Entered<Call>> {
  const {
    definition: { hooks },
    prepared,
  } = entering
  const input = prepared.input as never
  const context = new CallContext(entering, (await hooks.context?.(input)) ?? {})
  await hooks.preValidate?.(input, context)
  return askGuards(entering, context)
}

function askGuards<Call extends Entering>(
  entering: Call,
  context: Context,
): Entered<Call> | Promise<Entered<Call>> {
  const {
    definition,
    prepared,
    options: { guards, state },
    call,
  } = entering
  // What is no list must not pass for an empty one.
  if (guards === undefined || (Array.isArray(guards) && guards.length === 0))
    return { entering, context, asked: undefined }
  const asked = {
    guards: readGuards(guards),
    call: new Guarded(definition, prepared.input, context, state !== undefined),
    running: call,
  }
  return after(checkGuards(asked), goOn, { entering, context, asked })
}

function goOn<Value>(_checked: void, value: Value): Value {
  return value
}
