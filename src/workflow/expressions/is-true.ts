import { evaluate, isTruthy } from './evaluate.ts'
import { parseCondition } from './parse-condition.ts'
import type { Scope } from './scope-type.ts'

/** Whether a condition holds. null, false, 0 and the empty text do not; everything else does. Throws INVALID_INPUT for what cannot be read or compared. */
export function isTrue(condition: string, scope: Scope): boolean {
  return isTruthy(evaluate(parseCondition(condition), scope))
}
