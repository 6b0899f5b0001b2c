import type { ToolsetManifest } from '../../contract/manifest.ts'
import { lookupKey } from '../../define/names.ts'

/** A tool as a command of a program. */
export type ToolCommand = ToolsetManifest['tools'][number]

/** True when the words name the command; `-` and `_` are equal. */
export function isCommand(command: ToolCommand, words: readonly string[]): boolean {
  return command.path.length === words.length && isInside(command, words)
}

/** True when the words name the command or a group that holds it. */
export function isInside(command: ToolCommand, words: readonly string[]): boolean {
  return (
    words.length <= command.path.length &&
    words.every((word, index) => sameWord(word, command.path[index]!))
  )
}

/** True for two spellings of one name. */
export function sameWord(left: string, right: string): boolean {
  return lookupKey(left) === lookupKey(right)
}
