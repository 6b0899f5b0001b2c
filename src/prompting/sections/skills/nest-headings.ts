const FENCE = /^ {0,3}(`{3,}|~{3,})/
const HEADING = /^( {0,3})(#{1,6})(?=[ \t]|$)/

/** Markdown of somebody else with its headings below a heading of the given level. */
export function nestHeadings(markdown: string, level: number): string {
  const lines = markdown.split('\n')
  const headings = findHeadings(lines)
  const by = level + 1 - Math.min(...headings.values())
  if (headings.size === 0 || by <= 0) return markdown
  return lines
    .map((line, index) =>
      headings.has(index)
        ? line.replace(
            HEADING,
            (_, space: string, marks: string) => space + '#'.repeat(Math.min(6, marks.length + by)),
          )
        : line,
    )
    .join('\n')
}

// By the numbers of their lines; a comment in a block of code is none.
function findHeadings(lines: readonly string[]): ReadonlyMap<number, number> {
  const headings = new Map<number, number>()
  let fence: string | undefined
  lines.forEach((line, index) => {
    const mark = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
    } else if (mark !== undefined) fence = mark
    else {
      const marks = HEADING.exec(line)?.[2]
      if (marks !== undefined) headings.set(index, marks.length)
    }
  })
  return headings
}
