/**
 * Prints errors that happen before a tool runs.
 */

import { toToolError } from '../core/errors.ts'
import type { Servable } from '../core/tool.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Io } from '../protocol/io.ts'
import type { ErrorObject } from '../protocol/outcome.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import { detectCaller } from './caller.ts'
import type { ParsedCommand } from './command.ts'
import { createGlobalFlags } from './global-flags.ts'
import type { CommandHost } from './host.ts'
import {
  createDialectContext,
  createFailureOutcome,
  getExitStatus,
  printOutcome,
} from './output.ts'
import { choosePresentation } from './presentation.ts'

/** Prints what went wrong before a tool could run; gives the exit status. */
export async function printFailure(
  set: Servable,
  thrown: unknown,
  command: ParsedCommand | undefined,
  io: Io,
  { observer }: CommandHost,
  origin?: InputOrigin,
): Promise<number> {
  const error = toToolError(thrown)
  const globals = command?.globals ?? createGlobalFlags()
  const tool =
    command?.kind === 'tool'
      ? (command.entry.identity?.tool ?? `${set.name}.${command.entry.name}`)
      : set.name
  const presentation = choosePresentation(
    globals,
    io,
    detectCaller(io.env),
    {},
    set.options.defaultOutput,
  )
  const outcome = createFailureOutcome(
    addHelpSuggestion(error.toObject(), set, command),
    tool,
    set.version,
  )
  await printOutcome(outcome, {
    io,
    presentation,
    context: createDialectContext(io, tool),
    streamed: globals.stream === true,
    quiet: false,
    observer,
  })
  return getExitStatus(outcome, origin ?? getInputOrigin(error))
}

// What could not be read says where it came from.
function getInputOrigin({ details }: ToolError): InputOrigin {
  if (details?.['unreadable'] === true) return 'unreadable'
  return details?.['source'] === undefined ? 'flags' : 'json'
}

/** Adds to a usage error the command that shows the right usage. */
function addHelpSuggestion(
  error: ErrorObject,
  set: Servable,
  command: ParsedCommand | undefined,
): ErrorObject {
  if (error.code !== 'USAGE' || error.suggestion?.example !== undefined) return error
  const words =
    command?.kind === 'tool' && !command.single
      ? command.entry.path
      : command?.kind === 'group'
        ? command.path
        : []
  const example = [set.command ?? set.name, ...words, '--help'].join(' ')
  const suggestion = error.suggestion ?? {
    action: 'retry_with_modified_input' as const,
    fix: 'Read the help and call again',
    applicability: 'maybe_incorrect' as const,
  }
  return { ...error, suggestion: { ...suggestion, example } }
}
