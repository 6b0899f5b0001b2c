import type { Guard } from '../../contract/guard.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** The guards of a call, each once, however often it is named. Throws CONFIG for what is no guard: it must not count as one that agrees. */
export function readGuards(given: readonly Guard[]): readonly Guard[] {
  if (!Array.isArray(given))
    throw new ToolError(
      'CONFIG',
      'guards must be a list: { guards: [guards.rate({ calls: 10, per: 60 })] }',
    )
  const guards =
    given.length === 1 ? (given as readonly Guard[]) : [...new Set(given as readonly Guard[])]
  for (const guard of guards)
    if (typeof guard?.check !== 'function')
      throw new ToolError(
        'CONFIG',
        'guards holds something that cannot decide: make it with guard({ name, check }), or take one of guards',
      )
  return guards
}
