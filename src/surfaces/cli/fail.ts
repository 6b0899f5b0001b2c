import type { InputOrigin } from '../../contract/errors.ts'
import type { Io } from '../../contract/io.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'
import type { Servable } from '../../call/servable.ts'
import type { Command } from './argv/command.ts'
import { emptyGlobals } from './argv/globals.ts'
import { findCaller } from './caller.ts'
import { dialectContext } from './dialect-context.ts'
import type { Host } from './host.ts'
import { choosePresentation } from './mode.ts'
import { exitStatus, failedOutcome, printOutcome } from './print-outcome.ts'
import { suggestionFor } from './repair.ts'

/** Prints what went wrong before a tool could run; gives the exit status. */
export async function printFailure(
  set: Servable,
  thrown: unknown,
  command: Command | undefined,
  io: Io,
  { observer }: Host,
  origin?: InputOrigin,
): Promise<number> {
  const error = toToolError(thrown)
  const globals = command?.globals ?? emptyGlobals()
  const tool =
    command?.kind === 'tool'
      ? (command.entry.identity?.tool ?? `${set.name}.${command.entry.name}`)
      : set.name
  const presentation = choosePresentation(
    globals,
    io,
    findCaller(io.env),
    {},
    set.options.defaultOutput,
  )
  const outcome = failedOutcome(suggestionFor(error.toObject(), set, command), tool, set.version)
  await printOutcome(outcome, {
    io,
    presentation,
    context: dialectContext(io, tool),
    streamed: globals.stream === true,
    quiet: false,
    observer,
  })
  return exitStatus(outcome, origin ?? originOf(error))
}

// What could not be read says where it came from.
function originOf({ details }: ToolError): InputOrigin {
  if (details?.['unreadable'] === true) return 'unreadable'
  return details?.['source'] === undefined ? 'flags' : 'json'
}
