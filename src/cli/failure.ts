/**
 * Prints errors that happen before a tool runs, and adds to errors the exact command that would
 * succeed.
 */

import { isDeepStrictEqual } from 'node:util'
import { toToolError } from '../core/errors.ts'
import type { Servable } from '../core/provider.ts'
import type { InputOrigin } from '../protocol/errors.ts'
import type { Io } from '../protocol/io.ts'
import type { ErrorObject, FailureOutcome, Outcome, Suggestion } from '../protocol/outcome.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import { createFailureOutcome } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import { formatCommandLine } from './command-line.ts'
import type { ParsedCommand } from './command.ts'
import { createDialectContext, getExitStatus, printOutcome } from './output.ts'
import { choosePresentation } from './presentation.ts'
import type { CliCall, CommandHost } from './types.ts'

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
  const globals = command?.globals ?? {}
  const entry = command?.kind === 'tool' ? command.entry : undefined
  const tool = entry ? (entry.identity?.tool ?? `${set.name}.${entry.name}`) : set.name
  const outcome = createFailureOutcome(
    addHelpSuggestion(error.toObject(), set, command),
    tool,
    set.version,
  )
  await printOutcome(outcome, {
    io,
    presentation: choosePresentation(globals, io, set.options.defaultOutput),
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

// A usage error names the command that shows the right usage.
function addHelpSuggestion(
  error: ErrorObject,
  set: Servable,
  command: ParsedCommand | undefined,
): ErrorObject {
  if (error.code !== 'USAGE') return error
  const words = [set.command ?? set.name, ...getCommandPath(command), '--help']
  return addExample(error, words.join(' '), 'Read the help and call again')
}

function getCommandPath(command: ParsedCommand | undefined): readonly string[] {
  if (command?.kind === 'tool') return command.single ? [] : command.entry.path
  return command?.kind === 'group' ? command.path : []
}

// An example that the error has already is better.
function addExample(error: ErrorObject, example: string, fix: string): ErrorObject {
  if (error.suggestion?.example !== undefined) return error
  const suggestion: Suggestion = error.suggestion ?? {
    action: 'retry_with_modified_input',
    fix,
    applicability: 'maybe_incorrect',
  }
  return { ...error, suggestion: { ...suggestion, example } }
}

const REPAIR_FLAGS: { readonly [code: string]: (error: ErrorObject) => string } = {
  CONFIRMATION_REQUIRED: () => '--yes',
  ANSWER_REQUIRED: ({ details }) =>
    isObject(details?.['interaction']) && details['interaction']['kind'] === 'sample'
      ? '--sample-via stdin'
      : '--session',
}

/** Lets a failure name the exact command that would succeed or continue. */
export function addRepairCommand(outcome: Outcome, call: CliCall): Outcome {
  if (outcome.ok || !isObject(call.input)) return outcome
  const { error } = outcome
  if (error.code === 'MISSING_PARAM' && call.origin === 'flags')
    return addUsageExample(outcome, call)
  if (!Object.hasOwn(REPAIR_FLAGS, error.code)) return outcome
  const flag = REPAIR_FLAGS[error.code]!(error)
  const example = `${formatRepairCommand(call, call.input)} ${flag}`
  const repaired = addExample(error, example, `Call again with ${flag}`)
  if (repaired === error) return outcome
  const { input: _unused, ...suggestion } = repaired.suggestion!
  return { ...outcome, error: { ...repaired, suggestion } }
}

// Missing values are placeholders in the example.
function addUsageExample(
  outcome: FailureOutcome,
  { set, entry, single, specs }: CliCall,
): FailureOutcome {
  const words = specs
    .filter((spec) => spec.required)
    .map((spec) => (spec.positional ? `<${spec.long}>` : `--${spec.long} <${spec.valueName}>`))
  const suggestion: Suggestion = {
    action: 'retry_with_modified_input',
    fix: outcome.error.suggestion?.fix ?? 'Give what is missing',
    example: [set.command ?? set.name, ...(single ? [] : entry.path), ...words].join(' '),
    applicability: 'has_placeholders',
  }
  return { ...outcome, error: { ...outcome.error, suggestion } }
}

/**
 * An input as a command line of the called tool. What the caller left to its default is left out
 * again.
 */
export function formatRepairCommand(
  { set, entry, single, specs, input: given }: CliCall,
  input: { readonly [field: string]: unknown },
): string {
  const leftOut = specs.filter(
    ({ field, default: byDefault }) =>
      !(isObject(given) && Object.hasOwn(given, field)) &&
      byDefault !== undefined &&
      isDeepStrictEqual(input[field], byDefault),
  )
  const said = Object.fromEntries(
    Object.entries(input).filter(([field]) => !leftOut.some((spec) => spec.field === field)),
  )
  // Its own name as the first word would be taken for the name of the tool.
  return formatCommandLine(
    set.command ?? set.name,
    single ? [] : entry.path,
    specs,
    said,
    single ? [entry.name] : [],
  )
}
