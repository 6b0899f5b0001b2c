import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { evaluate } from './evaluate.ts'
import { textOf } from './fill.ts'
import type { Scope } from './scope-type.ts'
import { splitCommand } from './split-command.ts'
import type { Expression } from './syntax.ts'

/** The words of a command with its values put in, the tool first. A value never becomes two words. Throws INVALID_INPUT for null, and for a command that cannot be split. */
export function fillCommand(command: string, scope: Scope): string[] {
  return splitCommand(command).map((word) =>
    word.map((part) => (typeof part === 'string' ? part : valueOf(part, command, scope))).join(''),
  )
}

function valueOf(expression: Expression, command: string, scope: Scope): string {
  const value = evaluate(expression, scope)
  if (value === null || value === undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `${nameOf(expression)} in the command ${JSON.stringify(shorten(command, 100))} is null`,
      {
        suggestion:
          "Run the step only when it is there (when), or give another value: ${{ x || 'y' }}",
      },
    )
  return textOf(value)
}

function nameOf(expression: Expression): string {
  return expression.kind === 'path'
    ? `'${shorten([expression.root, ...expression.keys].join('.'), 100)}'`
    : 'a value'
}
