/**
 * Runs built-in commands that take over stdin and stdout, such as servers.
 */

import { prepareInput } from '../core/context.ts'
import { toToolError } from '../core/errors.ts'
import type { Servable } from '../core/tool.ts'
import type { Io } from '../protocol/io.ts'
import type { BuiltinCommand } from './builtin-command.ts'
import { callTool, printCallOutcome } from './call.ts'
import type { CallPerformer } from './call.ts'
import type { CommandHost } from './host.ts'
import { createDialectContext, createFailureOutcome } from './output.ts'
import { redirectStrayOutput } from './stray-output.ts'

/**
 * Checks the input as a call would, then lets the command take over; what it throws is printed like
 * the failure of a tool.
 */
export function createBuiltinPerformer(
  start: NonNullable<BuiltinCommand['start']>,
  set: Servable,
  io: Io,
  host: CommandHost,
): CallPerformer {
  return async (call) => {
    try {
      const { input } = await prepareInput(call.entry.definition, call.input, {
        cwd: io.cwd,
        env: io.env,
      })
      const status = await start(input, { set, io, host, globals: call.globals })
      if (status !== undefined) return status
    } catch (error) {
      const outcome = createFailureOutcome(
        toToolError(error).toObject(),
        `${set.name}.${call.entry.name}`,
        set.version,
      )
      return printCallOutcome(outcome, call, createDialectContext(io, call.entry.name), false)
    }
    host.prepareForTools(redirectStrayOutput)
    return callTool(call)
  }
}
