/** One block tag of a comment with all text up to the next: `@param root - Where to look`. */
export type Block = { readonly tag: string; readonly text: string }

/** A documentation comment in its parts. */
export type Comment = { readonly text: string; readonly blocks: readonly Block[] }

/** Reads a comment as it stands in the source, with its stars. Tags in fenced code are code. */
export function parseComment(source: string): Comment {
  const body = source.replace(/^\s*\/\*\*?/, '').replace(/\*\/\s*$/, '')
  // On a single line a tag stands behind the text.
  const lines = (body.includes('\n') ? body : body.replace(/\s+@(?=[A-Za-z]+\b)/g, '\n@'))
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*\*? ?/, ''))
  const text: string[] = []
  const blocks: { tag: string; lines: string[] }[] = []
  let fence: string | undefined
  for (const line of lines) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (mark !== undefined)
      fence = fence === undefined ? mark : mark.startsWith(fence) ? undefined : fence
    const tag =
      fence === undefined && mark === undefined
        ? /^\s*@([A-Za-z]\w*)(?:\s+(.*))?$/s.exec(line)
        : null
    if (tag) blocks.push({ tag: tag[1]!, lines: [tag[2] ?? ''] })
    else (blocks.at(-1)?.lines ?? text).push(line)
  }
  return {
    text: tidy(text),
    blocks: blocks.map(({ tag, lines: own }) => ({ tag, text: tidy(own) })),
  }
}

/** Text for people: links as their words, without the marks of the format. */
export function plainText(text: string): string {
  return text
    .replace(
      /\{@(?:link|linkcode|linkplain)\s+([^}|]+?)(?:\s*\|\s*([^}]+?))?\s*\}/g,
      (_all, target: string, words?: string) => words ?? target,
    )
    .replace(/\{@inheritDoc[^}]*\}/g, '')
    .replace(/\\([@{}<>])/g, '$1')
    .trim()
}

/** The first sentence on one line, at most 200 characters, without its full stop. */
export function firstSentence(text: string): string {
  const paragraph = text
    .split(/\n\s*\n/, 1)[0]!
    .replace(/\s+/g, ' ')
    .trim()
  // A full stop behind one of these ends no sentence.
  const sentence =
    /^(.+?(?<!\b(?:e\.g|i\.e|etc|vs|cf))[.!?])(?:\s|$)/.exec(paragraph)?.[1] ?? paragraph
  const short =
    sentence.length > 200 ? `${sentence.slice(0, 196).replace(/\s+\S*$/, '')} ...` : sentence
  return short.replace(/(?<!\.)\.$/, '')
}

function tidy(lines: readonly string[]): string {
  return lines.join('\n').replace(/^\n+/, '').trimEnd()
}
