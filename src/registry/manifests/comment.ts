const FIRST_LINES = 20
const MARK = /^(?:#+|\/\/+|--+|;+|%+|\/\*+|\*+|<!--+|\(\*+|'|@?rem\b)?\s*toolable:\s*(\{.*)$/i
const LEAD = /^(?:#+|\/\/+|--+|;+|%+|\*+(?!\/)|'|@?rem\b)?/i
const OPENS_BLOCK = /^(?:\/\*|<!--|\(\*|--\[\[|\{-|=begin|<#|'''|""")/

/** The JSON text of a comment `toolable: {...}`, and the line where it begins; `text` is undefined where its last brace is missing. */
export type CommentText = { readonly line: number; readonly text: string | undefined }

/** Finds the comment `toolable: {...}` among the first lines of a file of any language; it may go on over comment lines. */
export function findComment(source: string): CommentText | undefined {
  const lines = source.split(/\r?\n/)
  let block = false
  for (const [index, whole] of lines.slice(0, FIRST_LINES).entries()) {
    const line = whole.trimStart()
    const found = MARK.exec(line)
    // Outside of a block a bare line is code, and code is not a comment.
    if (found && (block || isComment(line)))
      return { line: index + 1, text: collect(found[1]!, lines.slice(index + 1)) }
    if (OPENS_BLOCK.test(line)) block = true
  }
  return undefined
}

function isComment(line: string): boolean {
  return /^(?:#|\/\/|--|;|%|\/\*|\*|<!--|\(\*|'|@?rem\b)/i.test(line)
}

// Whole only when every brace outside of texts is closed.
function collect(first: string, following: readonly string[]): string | undefined {
  let text = ''
  let depth = 0
  let quoted = false
  for (const line of [first, ...following.map((each) => each.trimStart().replace(LEAD, ''))]) {
    for (let at = 0; at < line.length; at++) {
      const character = line[at]!
      if (quoted) {
        if (character === '\\') at++
        else if (character === '"') quoted = false
      } else if (character === '"') quoted = true
      else if (character === '{') depth++
      else if (character === '}' && --depth === 0) return text + line.slice(0, at + 1)
    }
    text += line
  }
  return undefined
}
