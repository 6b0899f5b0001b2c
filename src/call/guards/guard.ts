import type { Guard } from '../../contract/guard.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkOptions } from '../../define/names.ts'

const OPTIONS = ['name', 'check', 'passed'] as const satisfies readonly (keyof Guard)[]

/** A guard of your own. `check` gives a refusal, or nothing where the call may happen; one that throws refuses. Throws CONFIG for what could not decide. */
export function guard(options: Guard): Guard {
  if (typeof options?.name !== 'string' || options.name === '')
    throw new ToolError('CONFIG', 'a guard needs a name')
  checkOptions(`guard '${options.name}'`, options, OPTIONS)
  if (typeof options.check !== 'function')
    throw new ToolError(
      'CONFIG',
      `guard '${options.name}' needs check(): the function that decides`,
    )
  if (options.passed !== undefined && typeof options.passed !== 'function')
    throw new ToolError('CONFIG', `passed of guard '${options.name}' must be a function`)
  return options
}
