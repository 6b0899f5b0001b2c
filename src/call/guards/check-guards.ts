import type { Guard, GuardedCall, Refusal } from '../../contract/guard.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { isThenable } from '../after.ts'
import { toToolError } from '../failure.ts'
import type { RunningCall } from '../running.ts'

const CODE = /^[A-Z][A-Z0-9_]*$/

/** A call and those who decide about it. */
export type Asked = {
  readonly call: GuardedCall
  readonly guards: readonly Guard[]
  readonly running: Pick<RunningCall, 'check'>
}

/** Asks the guards in their order, without a wait where they decide at once; the first refusal is thrown, and so is whatever keeps a guard from deciding. */
export function checkGuards(asked: Asked, from = 0): void | Promise<void> {
  const { guards, call, running } = asked
  for (let index = from; index < guards.length; index++) {
    // A call that is over while one of them thinks needs no other.
    running.check()
    const guard = guards[index]!
    const decision = decide(guard, call)
    if (isThenable(decision)) return checkLater(asked, index, decision)
    if (decision !== undefined) throw refuse(guard, call, decision)
  }
}

function decide(guard: Guard, call: GuardedCall): unknown {
  try {
    return guard.check(call)
  } catch (thrown) {
    throw couldNot(guard, call, 'decide', thrown)
  }
}

async function checkLater(
  asked: Asked,
  index: number,
  deciding: PromiseLike<unknown>,
): Promise<void> {
  const { call, guards } = asked
  const guard = guards[index]!
  let decision: unknown
  try {
    decision = await deciding
  } catch (thrown) {
    throw couldNot(guard, call, 'decide', thrown)
  }
  if (decision !== undefined) throw refuse(guard, call, decision)
  await checkGuards(asked, index + 1)
}

/** Tells the guards that want to know of a success; one that throws fails the call, and all that it did is taken back. */
export async function tellGuards({ guards, call }: Asked, outcome: Outcome): Promise<void> {
  for (const guard of guards) {
    try {
      await guard.passed?.(call, outcome)
    } catch (thrown) {
      throw couldNot(guard, call, 'take note', thrown)
    }
  }
}

/** Whether any of them wants to know. */
export function wantsToKnow({ guards }: Asked): boolean {
  return guards.some(({ passed }) => passed !== undefined)
}

const MEANINGS = {
  refuse: (tool: string) => `refused '${tool}', and why cannot be read`,
  decide: (tool: string) => `could not decide about '${tool}', so it was not run`,
  'take note': (tool: string) => `could not take note of '${tool}', so what it did was taken back`,
} as const

// What a guard raised on purpose is its own word.
function couldNot(
  { name }: Guard,
  { tool }: GuardedCall,
  what: keyof typeof MEANINGS,
  thrown: unknown,
): ToolError {
  const error = toToolError(thrown)
  return thrown === error
    ? error
    : new ToolError('PERMISSION', `guard '${name}' ${MEANINGS[what](tool)}: ${error.message}`, {
        cause: thrown,
        details: { guard: name },
      })
}

function refuse(guard: Guard, call: GuardedCall, refusal: unknown): ToolError {
  try {
    return toError(guard, call, refusal)
  } catch (thrown) {
    return couldNot(guard, call, 'refuse', thrown)
  }
}

function toError({ name }: Guard, { tool }: GuardedCall, refusal: unknown): ToolError {
  if (!isObject(refusal) || typeof refusal['message'] !== 'string')
    return new ToolError(
      'PERMISSION',
      `guard '${name}' gave neither a refusal nor undefined about '${tool}', so it was not run`,
      { details: { guard: name } },
    )
  const { message, advice, details } = refusal as Refusal
  // Programs decide by codes, so nothing else may stand in their place.
  const code =
    typeof refusal['code'] === 'string' && CODE.test(refusal['code'])
      ? refusal['code']
      : 'PRECONDITION'
  return new ToolError(code, message, {
    details: { ...(isObject(details) && details), guard: name },
    ...(typeof advice === 'string' && {
      suggestion: {
        action: code === 'PERMISSION' ? 'abort' : 'retry_with_modified_input',
        fix: advice,
      },
    }),
  })
}
