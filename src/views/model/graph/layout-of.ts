import type { Graph } from './graph-type.ts'

/** Where something is drawn, in pixels: its upper left corner, its size, and where what leads to it and from it meets it. */
export type Box = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly line: number
}
export type GraphLayout = {
  readonly boxes: ReadonlyMap<string, Box>
  readonly width: number
  readonly height: number
}

/** The size of every box. */
export const NODE = { width: 208, height: 46 }
const GAP = { across: 20, down: 34 }
/** Room in a frame: its title above, and a border around what is in it. */
const FRAME = { top: 28, side: 12, bottom: 12 }
/** Things beside each other that nothing connects are broken into lines of so many. */
const MOST_ACROSS = 4
const MARGIN = 2

// A thing with room to both sides of the line on which what follows each other is drawn.
type Placed = {
  readonly left: number
  readonly right: number
  readonly height: number
  /** Draws it around the line `x`, from `y` down. */ draw(x: number, y: number): void
}

/** Finds a place for everything in a graph: what follows is below, what is at the same time is beside, what takes something back is to the right, and frames hold what is in them. */
export function layoutOf(graph: Graph): GraphLayout {
  const boxes = new Map<string, Box>()
  const inside = new Map<string | undefined, string[]>()
  for (const { key, parent } of [...graph.nodes, ...graph.clusters])
    inside.set(parent, [...(inside.get(parent) ?? []), key])
  const frames = new Set(graph.clusters.map(({ key }) => key))
  const undo = new Set(graph.edges.filter(({ kind }) => kind === 'undo').map(({ to }) => to))
  const before = new Map<string, string[]>()
  for (const { from, to, kind } of graph.edges)
    if (kind !== 'need') before.set(to, [...(before.get(to) ?? []), from])

  const place = (key: string): Placed => {
    if (!frames.has(key)) {
      const half = NODE.width / 2
      return {
        left: half,
        right: half,
        height: NODE.height,
        draw: (x, y) => boxes.set(key, { x: x - half, y, ...NODE, line: x }),
      }
    }
    const content = placeAll(inside.get(key) ?? [])
    const [left, right, height] = [
      content.left + FRAME.side,
      content.right + FRAME.side,
      content.height + FRAME.top + FRAME.bottom,
    ]
    return {
      left,
      right,
      height,
      draw(x, y) {
        boxes.set(key, { x: x - left, y, width: left + right, height, line: x })
        content.draw(x, y + FRAME.top)
      },
    }
  }
  const placeAll = (keys: readonly string[]): Placed => {
    const lines = linesOf(keys, before, undo).map(({ main, aside }) =>
      joinLine(main.map(place), aside.map(place)),
    )
    const height =
      lines.reduce((sum, line) => sum + line.height, 0) + GAP.down * Math.max(0, lines.length - 1)
    return {
      left: Math.max(0, ...lines.map(({ left }) => left)),
      right: Math.max(0, ...lines.map(({ right }) => right)),
      height,
      draw(x, y) {
        let top = y
        for (const line of lines) {
          line.draw(x, top)
          top += line.height + GAP.down
        }
      },
    }
  }
  const all = placeAll(inside.get(undefined) ?? [])
  all.draw(all.left + MARGIN, MARGIN)
  return { boxes, width: all.left + all.right + 2 * MARGIN, height: all.height + 2 * MARGIN }
}

type Line = { readonly main: string[]; readonly aside: string[] }

// Each one below everything that it follows; the steps come in an order in which that is known.
function linesOf(
  keys: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
  undo: ReadonlySet<string>,
): readonly Line[] {
  const ranks = new Map<string, number>()
  const rankOf = (key: string): number => {
    const known = ranks.get(key)
    if (known !== undefined) return known
    ranks.set(key, 0)
    const rank = Math.max(-1, ...(before.get(key) ?? []).map(rankOf)) + 1
    ranks.set(key, rank)
    return rank
  }
  const ranked: Line[] = []
  for (const key of keys) {
    const rank = rankOf(key)
    while (ranked.length <= rank) ranked.push({ main: [], aside: [] })
    ranked[rank]![undo.has(key) ? 'aside' : 'main'].push(key)
  }
  return ranked.flatMap(({ main, aside }) => {
    const lines = Array.from(
      { length: Math.max(1, Math.ceil(main.length / MOST_ACROSS)) },
      (_, index) => ({
        main: main.slice(index * MOST_ACROSS, (index + 1) * MOST_ACROSS),
        aside: [] as string[],
      }),
    )
    lines[0]!.aside.push(...aside)
    return lines
  })
}

function joinLine(main: readonly Placed[], aside: readonly Placed[]): Placed {
  // One alone stands with its own line on the common one; several stand around it. What stands aside does so also where nothing is beside it.
  const width = main.length === 0 ? NODE.width : widthOf(main)
  const [left, right] = main.length === 1 ? [main[0]!.left, main[0]!.right] : [width / 2, width / 2]
  return {
    left,
    right: right + (aside.length > 0 ? GAP.across + widthOf(aside) : 0),
    height: Math.max(0, ...[...main, ...aside].map(({ height }) => height)),
    draw(x, y) {
      let at = main.length === 0 ? x + right + GAP.across : x - left
      for (const placed of [...main, ...aside]) {
        placed.draw(at + placed.left, y)
        at += placed.left + placed.right + GAP.across
      }
    },
  }
}

function widthOf(line: readonly Placed[]): number {
  return (
    line.reduce((sum, { left, right }) => sum + left + right, 0) +
    GAP.across * Math.max(0, line.length - 1)
  )
}
