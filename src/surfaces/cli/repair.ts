import type { ErrorObject } from '../../contract/outcome.ts'
import type { Servable } from '../../call/servable.ts'
import type { Command } from './argv/command.ts'

/** Adds to a usage error the command that shows the right usage. */
export function suggestionFor(
  error: ErrorObject,
  set: Servable,
  command: Command | undefined,
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
