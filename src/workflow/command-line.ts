/**
 * Commands in steps: splits a command into words like a shell, and fills in values so that a value
 * never becomes two words.
 */

import { ToolError } from '../protocol/tool-error.ts'
import { shorten } from '../util/text.ts'
import { cacheByText, EXPRESSION_OPEN, parsePlaceholder } from './expression-parser.ts'
import type { Expression, ExpressionTemplate } from './expression-parser.ts'
import { evaluateExpression, toInterpolatedText } from './expressions.ts'
import type { ExpressionScope } from './expressions.ts'

const BLANK_CHARACTERS = new Set([' ', '\t', '\n', '\r'])
// Written in front of a tool where the tools lie in a folder with a starter; here every tool is
// known by its name.
const TOOL_STARTER = './tool'

/**
 * The words of a command, as a shell splits them: quotes and backslashes, and nothing else that a
 * shell does. `${{ }}` is one piece wherever it stands.
 * Throws INVALID_INPUT for quotes that are not closed, and where nothing is named.
 */
export const splitCommand: (command: string) => readonly ExpressionTemplate[] = cacheByText(
  (command) => {
    const words = splitWords(command)
    const named = words[0]?.length === 1 && words[0][0] === TOOL_STARTER ? words.slice(1) : words
    if (named.length === 0 || named[0]!.length === 0)
      throw createCommandError(command, 'names no tool', 'Begin with the name of a tool')
    return named
  },
)

function splitWords(command: string): ExpressionTemplate[] {
  const words: ExpressionTemplate[] = []
  let word: (string | Expression)[] | undefined
  let quote: '"' | "'" | undefined
  const add = (text: string): void => {
    word ??= []
    const last = word.at(-1)
    if (typeof last === 'string') word[word.length - 1] = last + text
    else if (text !== '') word.push(text)
  }
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at]!
    if (command.startsWith(EXPRESSION_OPEN, at)) {
      const { expression, end } = parsePlaceholder(command, at)
      ;(word ??= []).push(expression)
      at = end - 1
    } else if (character === quote) quote = undefined
    else if (quote === "'") add(character)
    else if (character === '\\') {
      const next = command[at + 1]
      if (next === undefined)
        throw createCommandError(command, 'ends with a backslash', 'Write \\\\ for a backslash')
      at += 1
      // In double quotes a backslash is itself before anything that it need not protect; a line
      // that it ends goes on.
      if (next === '\n') continue
      add(quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next)
    } else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character
      add('')
    } else if (quote === undefined && BLANK_CHARACTERS.has(character)) {
      if (word) words.push(word)
      word = undefined
    } else add(character)
  }
  if (quote !== undefined)
    throw createCommandError(
      command,
      `has a ${quote} that is not closed`,
      `Close it, or write \\${quote}`,
    )
  if (word) words.push(word)
  return words
}

function createCommandError(command: string, what: string, fix: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `the command ${JSON.stringify(shorten(command, 100))} ${what}`,
    { suggestion: fix },
  )
}

/**
 * The words of a command with its values put in, the tool first. A value never becomes two words.
 * Throws INVALID_INPUT for null, and for a command that cannot be split.
 */
export function interpolateCommand(command: string, scope: ExpressionScope): string[] {
  return splitCommand(command).map((word) =>
    word
      .map((part) => (typeof part === 'string' ? part : toArgumentText(part, command, scope)))
      .join(''),
  )
}

function toArgumentText(expression: Expression, command: string, scope: ExpressionScope): string {
  const value = evaluateExpression(expression, scope)
  if (value === null || value === undefined)
    throw new ToolError(
      'INVALID_INPUT',
      `${describeExpression(expression)} in the command ${JSON.stringify(shorten(command, 100))} is null`,
      {
        suggestion:
          "Run the step only when it is there (when), or give another value: ${{ x || 'y' }}",
      },
    )
  return toInterpolatedText(value)
}

function describeExpression(expression: Expression): string {
  return expression.kind === 'path'
    ? `'${shorten([expression.root, ...expression.keys].join('.'), 100)}'`
    : 'a value'
}
