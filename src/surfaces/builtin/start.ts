import type { Io } from '../../contract/io.ts'
import { toToolError } from '../../call/failure.ts'
import { prepareInput } from '../../call/prepare.ts'
import { callTool } from '../cli/call-tool.ts'
import { dialectContext } from '../cli/dialect-context.ts'
import { finishCall } from '../cli/finish-call.ts'
import type { Host } from '../cli/host.ts'
import { failedOutcome } from '../cli/print-outcome.ts'
import type { Perform } from '../cli/start-call.ts'
import { redirectStrayOutput } from '../cli/stray-output.ts'
import type { Servable } from '../../call/servable.ts'
import type { Builtin } from './builtin.ts'

/** Checks the input as a call would, then lets the command take over; what it throws is printed like the failure of a tool. */
export function performStart(
  start: NonNullable<Builtin['start']>,
  set: Servable,
  io: Io,
  host: Host,
): Perform {
  return async (call) => {
    try {
      const { input } = await prepareInput(call.entry.definition, call.input, {
        cwd: io.cwd,
        env: io.env,
      })
      const status = await start(input, { set, io, host, globals: call.globals })
      if (status !== undefined) return status
    } catch (error) {
      const outcome = failedOutcome(
        toToolError(error).toObject(),
        `${set.name}.${call.entry.name}`,
        set.version,
      )
      return finishCall(outcome, call, dialectContext(io, call.entry.name), false)
    }
    host.prepareForTools(redirectStrayOutput)
    return callTool(call)
  }
}
