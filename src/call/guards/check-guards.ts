import type { Ask, Context } from '../../contract/context.ts'
import type { Guard, GuardedCall, Refusal } from '../../contract/guard.ts'
import type { Annotations } from '../../contract/manifest.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { State } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { ToolDefinition } from '../../define/tool-type.ts'

/** Asks the guards in their order; the first refusal is thrown, and so is whatever keeps a guard from deciding. */
export async function checkGuards(guards: readonly Guard[], call: GuardedCall): Promise<void> {
  for (const guard of guards) {
    const refusal = await ask(guard, call)
    if (refusal) throw toError(guard, refusal)
  }
}

/** Tells the guards of a success; one that throws fails the call. */
export async function tellGuards(guards: readonly Guard[], call: GuardedCall, outcome: Outcome): Promise<void> {
  for (const guard of guards) await guard.passed?.(call, outcome)
}

async function ask(guard: Guard, call: GuardedCall): Promise<Refusal | undefined> {
  try {
    return await guard.check(call)
  } catch (error) {
    if (ToolError.is(error)) throw error
    throw new ToolError('PERMISSION', `guard '${guard.name}' could not decide about '${call.tool}', so it was not run: ${error instanceof Error ? error.message : String(error)}`, { cause: error, details: { guard: guard.name } })
  }
}

function toError(guard: Guard, { message, code = 'PRECONDITION', advice, details }: Refusal): ToolError {
  return new ToolError(code, message, { details: { ...details, guard: guard.name }, suggestion: { action: code === 'PERMISSION' ? 'abort' : 'retry_with_modified_input', fix: advice } })
}

/** A call as its guards see it. A class, because the hidden class of a literal with getters is made anew for each call. */
export class Guarded implements GuardedCall {
  readonly tool: string
  readonly input: unknown
  readonly annotations: Annotations
  readonly caller: string | undefined
  readonly #context: Context
  readonly #hasState: boolean

  constructor(definition: ToolDefinition, input: unknown, context: Context, hasState: boolean) {
    this.tool = definition.name
    this.input = input
    this.annotations = definition.annotations
    this.caller = context.caller
    this.#context = context
    this.#hasState = hasState
  }

  get state(): State {
    if (!this.#hasState) throw new ToolError('CONFIG', `a guard of '${this.tool}' has to remember things, and the call has no state`, { suggestion: 'Give the calls a state: call(tool, input, { guards, state: createState() })' })
    return this.#context.state
  }

  get ask(): Ask {
    return this.#context.ask
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }
}
