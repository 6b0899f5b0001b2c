import type { Guard, GuardedCall, Refusal } from '../../contract/guard.ts'
import { isObject } from '../../contract/json.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../failure.ts'

const CODE = /^[A-Z][A-Z0-9_]*$/

/** A call and those who decide about it. */
export type Asked = { readonly call: GuardedCall; readonly guards: readonly Guard[] }

/** Asks the guards in their order; the first refusal is thrown, and so is whatever keeps a guard from deciding. */
export async function checkGuards({ guards, call }: Asked): Promise<void> {
  for (const guard of guards) {
    // A call that is over while one of them thinks needs no other.
    call.signal.throwIfAborted()
    const refusal = await attempt(guard, `could not decide about '${call.tool}', so it was not run`, () => guard.check(call))
    if (refusal !== undefined) throw await attempt(guard, `refused '${call.tool}', and why cannot be read`, () => toError(guard, call, refusal))
  }
}

/** Tells the guards of a success; one that throws fails the call, and all that it did is taken back. */
export async function tellGuards({ guards, call }: Asked, outcome: Outcome): Promise<void> {
  for (const guard of guards) await attempt(guard, `could not take note of '${call.tool}', so what it did was taken back`, () => guard.passed?.(call, outcome))
}

async function attempt<Answer>(guard: Guard, meaning: string, act: () => Answer | Promise<Answer>): Promise<Answer> {
  try {
    return await act()
  } catch (thrown) {
    const error = toToolError(thrown)
    if (thrown === error) throw error
    throw new ToolError('PERMISSION', `guard '${guard.name}' ${meaning}: ${error.message}`, { cause: thrown, details: { guard: guard.name } })
  }
}

function toError({ name }: Guard, { tool }: GuardedCall, refusal: unknown): ToolError {
  if (!isObject(refusal) || typeof refusal['message'] !== 'string') return new ToolError('PERMISSION', `guard '${name}' gave neither a refusal nor undefined about '${tool}', so it was not run`, { details: { guard: name } })
  const { message, advice, details } = refusal as Refusal
  // Programs decide by codes, so nothing else may stand in their place.
  const code = typeof refusal['code'] === 'string' && CODE.test(refusal['code']) ? refusal['code'] : 'PRECONDITION'
  return new ToolError(code, message, { details: { ...(isObject(details) && details), guard: name }, ...(typeof advice === 'string' && { suggestion: { action: code === 'PERMISSION' ? 'abort' : 'retry_with_modified_input', fix: advice } }) })
}
