import type { Guard, GuardedCall } from '../../contract/guard.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkOptions } from '../../define/names.ts'
import { guard } from './guard.ts'
import { isOneOf } from './tool-names.ts'

export type ApprovalOptions = {
  readonly tools?: readonly string[]
  /** Picks calls besides those of `tools`. */
  readonly when?: (call: GuardedCall) => boolean | Promise<boolean>
  /** What the person reads; default: the tool with its input, without what the tool's `redact` takes out. */
  readonly prompt?: (call: GuardedCall) => string
  /** Seconds to wait for the person; default: as long as it takes. */
  readonly timeout?: number
}

/** A person has to agree to each call: of the named tools, of those that `when` picks, else of all that are not read-only. Where nobody is there to be asked, the call fails with ANSWER_REQUIRED. A dry run asks nobody. Throws CONFIG for options that make no sense. */
export function approval(options: ApprovalOptions = {}): Guard {
  checkOptions('guards.approval()', options, ['tools', 'when', 'prompt', 'timeout'])
  const { tools, when, prompt, timeout } = options
  for (const [option, given] of Object.entries({ when, prompt }))
    if (given !== undefined && typeof given !== 'function')
      throw new ToolError('CONFIG', `${option} of guards.approval() must be a function`)
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout > 0))
    throw new ToolError(
      'CONFIG',
      `timeout of guards.approval() must be seconds above 0, got ${String(timeout)}`,
    )
  const isNamed = tools === undefined ? undefined : isOneOf('tools of guards.approval()', tools)
  const isWanted = async (call: GuardedCall): Promise<boolean> => {
    if (!isNamed && !when) return call.annotations.readOnly !== true
    return isNamed?.(call.tool) === true || (when !== undefined && (await when(call)) !== false)
  }
  return guard({
    name: 'approval',
    async check(call) {
      if (call.dryRun || !(await isWanted(call))) return undefined
      const agreed = await call.ask({
        kind: 'confirm',
        prompt: prompt?.(call) ?? `Run ${call.tool} with ${JSON.stringify(call.shown)}?`,
        ...(timeout !== undefined && { timeout }),
      })
      if (agreed === true) return undefined
      return {
        code: 'PERMISSION',
        message: `'${call.tool}' was not run: a person declined it`,
        advice: 'Do not call it again unless the user asks for it',
      }
    },
  })
}
