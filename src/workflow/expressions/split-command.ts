import { shorten } from '../../contract/shorten.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { boundedCache } from './bounded-cache.ts'
import { OPEN, readPlaceholder } from './parse-template.ts'
import type { Expression, Template } from './syntax.ts'

const BLANKS = new Set([' ', '\t', '\n', '\r'])
// Written in front of a tool where the tools lie in a folder with a starter; here every tool is known by its name.
const STARTER = './tool'

/**
 * The words of a command, as a shell splits them: quotes and backslashes, and nothing else that a shell does. `${{ }}` is one piece wherever it stands.
 * Throws INVALID_INPUT for quotes that are not closed, and where nothing is named.
 */
export const splitCommand: (command: string) => readonly Template[] = boundedCache((command) => {
  const words = readWords(command)
  const named = words[0]?.length === 1 && words[0][0] === STARTER ? words.slice(1) : words
  if (named.length === 0 || named[0]!.length === 0)
    throw fault(command, 'names no tool', 'Begin with the name of a tool')
  return named
})

function readWords(command: string): Template[] {
  const words: Template[] = []
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
    if (command.startsWith(OPEN, at)) {
      const { expression, end } = readPlaceholder(command, at)
      ;(word ??= []).push(expression)
      at = end - 1
    } else if (character === quote) quote = undefined
    else if (quote === "'") add(character)
    else if (character === '\\') {
      const next = command[at + 1]
      if (next === undefined)
        throw fault(command, 'ends with a backslash', 'Write \\\\ for a backslash')
      at += 1
      // In double quotes a backslash is itself before anything that it need not protect; a line that it ends goes on.
      if (next === '\n') continue
      add(quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next)
    } else if (quote === undefined && (character === '"' || character === "'")) {
      quote = character
      add('')
    } else if (quote === undefined && BLANKS.has(character)) {
      if (word) words.push(word)
      word = undefined
    } else add(character)
  }
  if (quote !== undefined)
    throw fault(command, `has a ${quote} that is not closed`, `Close it, or write \\${quote}`)
  if (word) words.push(word)
  return words
}

function fault(command: string, what: string, fix: string): ToolError {
  return new ToolError(
    'INVALID_INPUT',
    `the command ${JSON.stringify(shorten(command, 100))} ${what}`,
    { suggestion: fix },
  )
}
