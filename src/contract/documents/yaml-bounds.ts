import type { ReadProblem } from './reading.ts'
import { refuse } from './reading.ts'

/** A manifest is a page of text; what is longer is something else, or meant to hurt. */
export const YAML_BOUNDS = {
  bytes: 256 * 1024,
  lines: 10_000,
  depth: 64,
  anchors: 500,
  values: 50_000,
} as const

/** What can be seen wrong with a YAML text without parsing it, which takes its time with hostile texts. */
export function findBoundProblem(text: string): ReadProblem | undefined {
  if (text.length > YAML_BOUNDS.bytes)
    return tooMuch(`is larger than ${YAML_BOUNDS.bytes / 1024} KiB`)
  let line = 1
  let flow = 0
  let anchors = 0
  let start = true
  let indicators = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\n') {
      if (++line > YAML_BOUNDS.lines)
        return tooMuch(`has more than ${YAML_BOUNDS.lines} lines`, line)
      start = true
      indicators = 0
      continue
    }
    if ((character === '"' || character === "'") && isBlankOrOpen(text[at - 1])) {
      // Brackets in a quoted text close nothing.
      const end = endOfQuoted(text, at)
      for (
        let next = text.indexOf('\n', at);
        next !== -1 && next < end;
        next = text.indexOf('\n', next + 1)
      )
        line++
      at = end
      start = false
      continue
    }
    if (character === '[' || character === '{') flow++
    else if ((character === ']' || character === '}') && flow > 0) flow--
    // `- - - a` opens a level with each dash.
    else if (
      start &&
      (character === '-' || character === '?' || character === ':') &&
      isBlank(text[at + 1])
    )
      indicators++
    else if (
      (character === '*' || character === '&') &&
      isBlankOrOpen(text[at - 1]) &&
      !isBlank(text[at + 1])
    )
      anchors++
    if (start && character !== ' ' && character !== '-' && character !== '?' && character !== ':')
      start = false
    if (flow + indicators > YAML_BOUNDS.depth)
      return tooMuch(`is nested more than ${YAML_BOUNDS.depth} levels deep`, line)
    if (anchors > YAML_BOUNDS.anchors)
      return tooMuch(`has more than ${YAML_BOUNDS.anchors} anchors and aliases`, line)
  }
  return undefined
}

// At the closing quote; where there is none, nothing is skipped, because it is an apostrophe.
function endOfQuoted(text: string, start: number): number {
  const quote = text[start]!
  for (let at = text.indexOf(quote, start + 1); at !== -1; at = text.indexOf(quote, at + 1)) {
    let backslashes = 0
    while (quote === '"' && text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return start
}

/** A text that goes beyond what a manifest may be. */
export function tooMuch(message: string, line?: number): ReadProblem {
  return refuse(
    'yaml',
    message,
    'Write the manifest plainly, without repetition by anchors, and keep everything else out of it',
    line,
  ).problem
}

function isBlank(character: string | undefined): boolean {
  return (
    character === undefined ||
    character === ' ' ||
    character === '\n' ||
    character === '\t' ||
    character === '\r'
  )
}

function isBlankOrOpen(character: string | undefined): boolean {
  return (
    isBlank(character) ||
    character === '[' ||
    character === '{' ||
    character === ',' ||
    character === '-' ||
    character === ':'
  )
}
