import { displayWidth, splitClusters } from './display-width.ts'

/** The head of the text in at most `width` columns, with `…` where something is missing. */
export function truncateEnd(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  return width < 1 ? '' : `${takeColumns(clip(text, width), width - 1)}…`
}

/** Head and tail of the text in at most `width` columns: of a path both the root and the file name are worth seeing. */
export function truncateMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  if (width < 5) return truncateEnd(text, width)
  const tail = Math.ceil((width - 1) * 0.6)
  const reversed = splitClusters(text.slice(-REACH * width)).reverse()
  return `${takeColumns(clip(text, width), width - 1 - tail)}…${takeFrom(reversed, tail).reverse().join('')}`
}

/** The text filled up with spaces to `width` columns. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

/** The text moved to the right of `width` columns. */
export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text
}

// A megabyte in one cell is not split into clusters to show twenty of them.
const REACH = 16
function clip(text: string, width: number): string {
  return text.slice(0, REACH * width)
}

function takeColumns(text: string, width: number): string {
  return takeFrom(splitClusters(text), width).join('')
}

function takeFrom(
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
