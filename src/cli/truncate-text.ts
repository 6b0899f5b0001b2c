import { getDisplayWidth, splitClusters } from './text-layout.ts'

/** The head of the text in at most `width` columns, with `…` where something is missing. */
export function truncateEnd(text: string, width: number): string {
  if (getDisplayWidth(text) <= width) return text
  return width < 1 ? '' : `${takeColumns(clipText(text, width), width - 1)}…`
}

/**
 * Head and tail of the text in at most `width` columns: of a path both the root and the file name
 * are worth seeing.
 */
export function truncateMiddle(text: string, width: number): string {
  if (getDisplayWidth(text) <= width) return text
  if (width < 5) return truncateEnd(text, width)
  const tail = Math.ceil((width - 1) * 0.6)
  const reversed = splitClusters(text.slice(-CHARS_PER_COLUMN * width)).reverse()
  return `${takeColumns(clipText(text, width), width - 1 - tail)}…${takeClusters(reversed, tail).reverse().join('')}`
}

/** The text filled up with spaces to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - getDisplayWidth(text)))
}

/** The text moved to the right of `width` columns. */
export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - getDisplayWidth(text))) + text
}

// A megabyte in one cell is not split into clusters to show twenty of them.
const CHARS_PER_COLUMN = 16
function clipText(text: string, width: number): string {
  return text.slice(0, CHARS_PER_COLUMN * width)
}

function takeColumns(text: string, width: number): string {
  return takeClusters(splitClusters(text), width).join('')
}

function takeClusters(
  clusters: readonly { readonly text: string; readonly width: number }[],
  width: number,
): string[] {
  const taken: string[] = []
  let used = 0
  for (const cluster of clusters) {
    if (used + cluster.width > width) break
    used += cluster.width
    taken.push(cluster.text)
  }
  return taken
}
