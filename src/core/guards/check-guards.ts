/**
 * Asks the guards of a call, and turns refusals into errors.
 */

import type { ToolDefinition } from '../../define/tool-types.ts'
import type { Ask, Context, Guard, GuardedCall, Refusal } from '../../protocol/context.ts'
import type { Annotations } from '../../protocol/manifest.ts'
import type { Outcome } from '../../protocol/outcome.ts'
import type { State } from '../../protocol/state.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import { toToolError } from '../errors.ts'
import { redactInput } from '../events.ts'
import type { RunningCall } from '../lifecycle.ts'
import { isThenable } from '../lifecycle.ts'

const ERROR_CODE = /^[A-Z][A-Z0-9_]*$/

/** A call and those who decide about it. */
export type GuardCheck = {
  readonly call: GuardedCall
  readonly guards: readonly Guard[]
  readonly running: Pick<RunningCall, 'check'>
}

/**
 * Asks the guards in order, synchronously as long as they decide synchronously. Throws the first
 * refusal, and PERMISSION when a guard fails.
 */
export function checkGuards(asked: GuardCheck, from = 0): void | Promise<void> {
  const { guards, call, running } = asked
  for (let index = from; index < guards.length; index++) {
    // A call that is over while one of them thinks needs no other.
    running.check()
    const guard = guards[index]!
    const decision = askGuard(guard, call)
    if (isThenable(decision)) return checkGuardsAsync(asked, index, decision)
    if (decision !== undefined) throw createRefusalError(guard, call, decision)
  }
}

function askGuard(guard: Guard, call: GuardedCall): unknown {
  try {
    return guard.check(call)
  } catch (thrown) {
    throw createGuardError(guard, call, 'decide', thrown)
  }
}

async function checkGuardsAsync(
  asked: GuardCheck,
  index: number,
  deciding: PromiseLike<unknown>,
): Promise<void> {
  const { call, guards } = asked
  const guard = guards[index]!
  let decision: unknown
  try {
    decision = await deciding
  } catch (thrown) {
    throw createGuardError(guard, call, 'decide', thrown)
  }
  if (decision !== undefined) throw createRefusalError(guard, call, decision)
  await checkGuards(asked, index + 1)
}

/** Calls the `passed` hooks after a success; one that throws fails the call, which rolls back. */
export async function notifyGuards({ guards, call }: GuardCheck, outcome: Outcome): Promise<void> {
  for (const guard of guards) {
    try {
      await guard.passed?.(call, outcome)
    } catch (thrown) {
      throw createGuardError(guard, call, 'take note', thrown)
    }
  }
}

/** Whether any of them wants to know. */
export function hasPassedHooks({ guards }: GuardCheck): boolean {
  return guards.some(({ passed }) => passed !== undefined)
}

const GUARD_PROBLEMS = {
  refuse: (tool: string) => `refused '${tool}', and why cannot be read`,
  decide: (tool: string) => `could not decide about '${tool}', so it was not run`,
  'take note': (tool: string) => `could not take note of '${tool}', so what it did was taken back`,
} as const

// What a guard raised on purpose is its own word.
function createGuardError(
  { name }: Guard,
  { tool }: GuardedCall,
  what: keyof typeof GUARD_PROBLEMS,
  thrown: unknown,
): ToolError {
  const error = toToolError(thrown)
  return thrown === error
    ? error
    : new ToolError(
        'PERMISSION',
        `guard '${name}' ${GUARD_PROBLEMS[what](tool)}: ${error.message}`,
        { cause: thrown, details: { guard: name } },
      )
}

function createRefusalError(guard: Guard, call: GuardedCall, refusal: unknown): ToolError {
  try {
    return toRefusalError(guard, call, refusal)
  } catch (thrown) {
    return createGuardError(guard, call, 'refuse', thrown)
  }
}

function toRefusalError({ name }: Guard, { tool }: GuardedCall, refusal: unknown): ToolError {
  if (!isObject(refusal) || typeof refusal['message'] !== 'string')
    return new ToolError(
      'PERMISSION',
      `guard '${name}' gave neither a refusal nor undefined about '${tool}', so it was not run`,
      { details: { guard: name } },
    )
  const { message, advice, details } = refusal as Refusal
  // Programs decide by codes, so nothing else may stand in their place.
  const code =
    typeof refusal['code'] === 'string' && ERROR_CODE.test(refusal['code'])
      ? refusal['code']
      : 'PRECONDITION'
  const action = code === 'PERMISSION' ? 'abort' : 'retry_with_modified_input'
  const suggestion = typeof advice === 'string' ? ({ action, fix: advice } as const) : undefined
  const known = isObject(details) ? details : {}
  return new ToolError(code, message, compact({ details: { ...known, guard: name }, suggestion }))
}

/**
 * A call as its guards see it. A class, because V8 creates a new hidden class for each literal with
 * getters.
 */
export class GuardedCallView implements GuardedCall {
  readonly tool: string
  readonly input: unknown
  readonly #definition: ToolDefinition
  readonly #context: Context
  readonly #hasState: boolean

  constructor(definition: ToolDefinition, input: unknown, context: Context, hasState: boolean) {
    this.tool = definition.name
    this.input = input
    this.#definition = definition
    this.#context = context
    this.#hasState = hasState
  }

  get shown(): unknown {
    return redactInput(this.#definition, this.input)
  }

  get annotations(): Annotations {
    return this.#definition.annotations
  }

  get caller(): string | undefined {
    return this.#context.caller
  }

  get dryRun(): boolean {
    return this.#context.dryRun
  }

  get state(): State {
    if (!this.#hasState)
      throw new ToolError(
        'CONFIG',
        `a guard of '${this.tool}' has to remember things, and the call has no state`,
        {
          suggestion: 'Give the calls a state: call(tool, input, { guards, state: createState() })',
        },
      )
    return this.#context.state
  }

  get ask(): Ask {
    return this.#context.ask
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }
}
