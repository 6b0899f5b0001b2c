import { Graph as Layered, layout } from '@dagrejs/dagre'
import type { Graph, GraphEdge } from '../../../src/views/model/graph/graph-type.ts'

/** Where something is drawn: its upper left corner and its size. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number }
export type GraphLayout = { readonly boxes: ReadonlyMap<string, Box>; readonly width: number; readonly height: number }

export const NODE = { width: 208, height: 46 }
/** Room for the title of a frame, and around what is in it. */
const FRAME = { top: 26, side: 12, bottom: 12 }
const MARGIN = 4

/** Finds a place for every box and frame of a graph, in layers from top to bottom. */
export function layOut(graph: Graph): GraphLayout {
  if (graph.nodes.length === 0) return { boxes: new Map(), width: 0, height: 0 }
  const layered = new Layered({ compound: true })
  layered.setGraph({ rankdir: 'TB', nodesep: 20, ranksep: 30, edgesep: 12 })
  layered.setDefaultEdgeLabel(() => ({}))
  for (const { key } of graph.nodes) layered.setNode(key, { ...NODE })
  for (const { key } of graph.clusters) layered.setNode(key, {})
  for (const { key, parent } of [...graph.nodes, ...graph.clusters]) if (parent !== undefined) layered.setParent(key, parent)
  for (const [from, to] of leafEdges(graph)) layered.setEdge(from, to)
  layout(layered)
  return shiftToOrigin(boxesOf(graph, layered))
}

function boxesOf({ nodes, clusters }: Graph, layered: Layered): Map<string, Box> {
  const boxes = new Map<string, Box>()
  for (const { key } of nodes) {
    const { x = 0, y = 0 } = layered.node(key) as { readonly x?: number; readonly y?: number }
    boxes.set(key, { x: x - NODE.width / 2, y: y - NODE.height / 2, ...NODE })
  }
  // A frame comes after the one around it, so that the inner ones are known first from behind.
  for (const { key } of clusters.toReversed()) {
    const inside = [...nodes, ...clusters].filter(({ parent }) => parent === key).flatMap((one) => boxes.get(one.key) ?? [])
    const [left, top] = [Math.min(...inside.map(({ x }) => x)), Math.min(...inside.map(({ y }) => y))]
    const [right, bottom] = [Math.max(...inside.map(({ x, width }) => x + width)), Math.max(...inside.map(({ y, height }) => y + height))]
    boxes.set(key, { x: left - FRAME.side, y: top - FRAME.top, width: right - left + 2 * FRAME.side, height: bottom - top + FRAME.top + FRAME.bottom })
  }
  return boxes
}

function shiftToOrigin(boxes: ReadonlyMap<string, Box>): GraphLayout {
  const all = [...boxes.values()]
  const [left, top] = [Math.min(...all.map(({ x }) => x)) - MARGIN, Math.min(...all.map(({ y }) => y)) - MARGIN]
  return {
    boxes: new Map([...boxes].map(([key, box]) => [key, { ...box, x: box.x - left, y: box.y - top }])),
    width: Math.max(...all.map(({ x, width }) => x + width)) - left + MARGIN,
    height: Math.max(...all.map(({ y, height }) => y + height)) - top + MARGIN,
  }
}

// The library has no edges from or to a frame: what is last in the one is followed by what is first in the other.
function leafEdges({ nodes, clusters, edges }: Graph): readonly (readonly [string, string])[] {
  const parents = new Map([...nodes, ...clusters].map(({ key, parent }) => [key, parent]))
  const flow = edges.filter(({ kind }) => kind !== 'need')
  const ends = (side: 'from' | 'to', key: string): readonly string[] => {
    const taken = new Set(flow.map((edge: GraphEdge) => edge[side]))
    return nodes.map((node) => node.key).filter((leaf) => {
      for (let at: string | undefined = leaf; at !== undefined; at = parents.get(at)) {
        if (at === key) return true
        if (taken.has(at)) return false
      }
      return false
    })
  }
  return flow.flatMap(({ from, to }) => ends('from', from).flatMap((last) => ends('to', to).map((first) => [last, first] as const)))
}
