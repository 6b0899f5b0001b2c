/**
 * A workflow as a graph: nodes, clusters and edges, and where each is drawn.
 */

import { shorten } from '../../util/text.ts'
import { compact } from '../../util/values.ts'
import type { PlannedNode } from './api.ts'
import type { StepState } from './run-model.ts'

/** A planned step, with the steps inside it in its lists. */
type PlannedBranch = {
  readonly planned: PlannedNode
  readonly name: string
  readonly steps: PlannedBranch[]
  readonly last: PlannedBranch[]
  readonly undo: PlannedBranch[]
}
type StepScope = { readonly names: ReadonlyMap<string, string>; readonly around?: StepScope }

/**
 * What follows what in a definition: boxes in the order of the steps, frames around those that hold
 * others.
 */
export function createGraph(planned: readonly PlannedNode[]): WorkflowGraph {
  const drawing = new GraphBuilder()
  const top = toStepTree(planned)
  drawing.workflow(top.steps, top.last, '', undefined, undefined)
  return { nodes: drawing.nodes, clusters: drawing.clusters, edges: drawing.edges }
}

class GraphBuilder {
  readonly nodes: GraphNode[] = []
  readonly clusters: GraphCluster[] = []
  readonly edges: GraphEdge[] = []

  workflow(
    steps: readonly PlannedBranch[],
    last: readonly PlannedBranch[],
    key: string,
    parent: string | undefined,
    around: StepScope | undefined,
  ): void {
    const scope = this.list(steps, parent, around)
    if (last.length === 0) return
    const frame = key === '' ? 'finally' : `${key}/finally`
    this.clusters.push(compact({ key: frame, name: 'finally', label: 'however it ends', parent }))
    const before = steps.at(-1)
    if (before) this.edges.push({ from: before.planned.key, to: frame, kind: 'order' })
    this.list(last, frame, scope)
  }

  // Steps one after the other; gives what can be named after them.
  private list(
    steps: readonly PlannedBranch[],
    parent: string | undefined,
    around: StepScope | undefined,
  ): StepScope {
    const names = new Map<string, string>()
    const scope = compact({ names, around })
    for (const [index, branch] of steps.entries()) {
      const before = steps[index - 1]
      const { when } = branch.planned
      if (before)
        this.edges.push(
          compact({ from: before.planned.key, to: branch.planned.key, kind: 'order', label: when }),
        )
      this.step(branch, parent, scope, before?.planned.key)
      names.set(branch.name, branch.planned.key)
    }
    return scope
  }

  private step(
    branch: PlannedBranch,
    parent: string | undefined,
    scope: StepScope,
    before: string | undefined,
  ): void {
    const { planned, name, steps, last, undo } = branch
    const { key } = planned
    const shown = compact({ key, name, label: getNodeLabel(planned), parent, planned })
    for (const from of new Set(planned.needs.flatMap((need) => findNeededStep(need, scope) ?? [])))
      if (from !== before) this.edges.push({ from, to: key, kind: 'need' })
    if (steps.length + last.length === 0) this.nodes.push(shown)
    else {
      this.clusters.push(shown)
      if (planned.kind === 'parallel')
        for (const task of steps) this.step(task, key, scope, undefined)
      else this.workflow(steps, last, key, key, planned.kind === 'workflow' ? undefined : scope)
    }
    this.takeBack(undo, key, parent, scope)
  }

  private takeBack(
    undo: readonly PlannedBranch[],
    key: string,
    parent: string | undefined,
    scope: StepScope,
  ): void {
    for (const [index, branch] of undo.entries()) {
      const from = undo[index - 1]?.planned.key ?? key
      this.edges.push({ from, to: branch.planned.key, kind: 'undo' })
      this.step(branch, parent, scope, from)
    }
  }
}

// The steps come in the order in which they are written, each after the one that holds it.
function toStepTree(planned: readonly PlannedNode[]): Pick<PlannedBranch, 'steps' | 'last'> {
  const top = { steps: [] as PlannedBranch[], last: [] as PlannedBranch[] }
  const open: PlannedBranch[] = []
  for (const node of planned) {
    const holder = node.depth === 0 ? undefined : open[node.depth - 1]
    const branch: PlannedBranch = {
      planned: node,
      name: node.key.slice(node.key.lastIndexOf('/') + 1),
      steps: [],
      last: [],
      undo: [],
    }
    const rest = holder ? node.key.slice(holder.planned.key.length) : `/${node.key}`
    const { steps, last } = holder ?? top
    if (holder && rest.startsWith('~undo/')) holder.undo.push(branch)
    else if (rest.startsWith('/finally/')) last.push(branch)
    else steps.push(branch)
    open.length = Math.min(open.length, node.depth)
    open[node.depth] = branch
  }
  return top
}

function findNeededStep(need: string, scope: StepScope | undefined): string | undefined {
  const name = /^steps\.(.+)$/.exec(need)?.[1]
  for (let at = name === undefined ? undefined : scope; at; at = at.around) {
    const key = at.names.get(name!)
    if (key !== undefined) return key
  }
  return undefined
}

const MAX_LABEL_CHARS = 120

/**
 * What a step does, in a few words: its tool, its command, its question, the workflow inside it.
 */
function getNodeLabel({
  kind,
  tool,
  command,
  question,
  workflow,
  text,
  concurrency,
}: PlannedNode): string {
  const many = concurrency === undefined ? '' : `, ${concurrency} at a time`
  return shorten(
    command ??
      tool ??
      question ??
      text ??
      (workflow === undefined ? `${KIND_LABELS[kind] ?? kind}${many}` : `workflow ${workflow}`),
    MAX_LABEL_CHARS,
  )
}

const KIND_LABELS: { readonly [kind: string]: string } = {
  ai_decision: 'decision',
  parallel: 'in parallel',
  each: 'for each',
  wait: 'wait',
}

/** A step that holds no others: a box. */
export type GraphNode = {
  readonly key: string
  readonly name: string
  /** What it does, in a few words. */ readonly label: string
  readonly parent?: string
  readonly planned: PlannedNode
}

/** A step that holds others, or the steps that are taken at the end: a frame around boxes. */
export type GraphCluster = Omit<GraphNode, 'planned'> & { readonly planned?: PlannedNode }

/**
 * From what to what, where each is a box or a frame. `order`: one after the other; `undo`: taken
 * only to take something back; `need`: the one uses what the other gave.
 */
export type GraphEdge = {
  readonly from: string
  readonly to: string
  readonly kind: 'order' | 'undo' | 'need'
  /** On which condition. */ readonly label?: string
}

/** A definition as boxes, frames and what follows what. */
export type WorkflowGraph = {
  readonly nodes: readonly GraphNode[]
  readonly clusters: readonly GraphCluster[]
  readonly edges: readonly GraphEdge[]
}

/** How a box stands in a run. One that is taken for each item of a list stands for all of them. */
export type NodeStatus = {
  readonly state: StepState
  /** Steps of the run that it stands for. */
  readonly keys: readonly string[]
  /** `7 of 12`, where it stands for several items. */
  readonly items?: string
  readonly tries: number
  /** Milliseconds. */
  readonly began?: number
  readonly ended?: number
  readonly percent?: number
  readonly last?: string
  readonly error?: string
  readonly run_id?: string
}

/**
 * Where something is drawn, in pixels: its upper left corner, its size, and where what leads to it
 * and from it meets it.
 */
export type GraphBox = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly line: number
}
type GraphLayout = {
  readonly boxes: ReadonlyMap<string, GraphBox>
  readonly width: number
  readonly height: number
}

/** The size of every box. */
const NODE_SIZE = { width: 208, height: 46 }
const GAP = { across: 20, down: 34 }
/** Room in a frame: its title above, and a border around what is in it. */
const FRAME = { top: 28, side: 12, bottom: 12 }
/** Things beside each other that nothing connects are broken into lines of so many. */
const MAX_NODES_PER_LINE = 4
const GRAPH_MARGIN = 2

// A thing with room to both sides of the line on which what follows each other is drawn.
type LayoutBlock = {
  readonly left: number
  readonly right: number
  readonly height: number
  /** Draws it around the line `x`, from `y` down. */ draw(x: number, y: number): void
}

/**
 * Finds a place for everything in a graph: what follows is below, what is at the same time is
 * beside, what takes something back is to the right, and frames hold what is in them.
 */
export function layoutGraph(graph: WorkflowGraph): GraphLayout {
  const boxes = new Map<string, GraphBox>()
  const inside = new Map<string | undefined, string[]>()
  for (const { key, parent } of [...graph.nodes, ...graph.clusters])
    inside.set(parent, [...(inside.get(parent) ?? []), key])
  const frames = new Set(graph.clusters.map(({ key }) => key))
  const undo = new Set(graph.edges.filter(({ kind }) => kind === 'undo').map(({ to }) => to))
  const before = new Map<string, string[]>()
  for (const { from, to, kind } of graph.edges)
    if (kind !== 'need') before.set(to, [...(before.get(to) ?? []), from])

  const place = (key: string): LayoutBlock => {
    if (!frames.has(key)) {
      const half = NODE_SIZE.width / 2
      return {
        left: half,
        right: half,
        height: NODE_SIZE.height,
        draw: (x, y) => boxes.set(key, { x: x - half, y, ...NODE_SIZE, line: x }),
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
  const placeAll = (keys: readonly string[]): LayoutBlock => {
    const lines = toLines(keys, before, undo).map(({ main, aside }) =>
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
  all.draw(all.left + GRAPH_MARGIN, GRAPH_MARGIN)
  return {
    boxes,
    width: all.left + all.right + 2 * GRAPH_MARGIN,
    height: all.height + 2 * GRAPH_MARGIN,
  }
}

type LayoutLine = { readonly main: string[]; readonly aside: string[] }

// Each one below everything that it follows; the steps come in an order in which that is known.
function toLines(
  keys: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
  undo: ReadonlySet<string>,
): readonly LayoutLine[] {
  const ranks = new Map<string, number>()
  const getRank = (key: string): number => {
    const known = ranks.get(key)
    if (known !== undefined) return known
    ranks.set(key, 0)
    const rank = Math.max(-1, ...(before.get(key) ?? []).map(getRank)) + 1
    ranks.set(key, rank)
    return rank
  }
  const ranked: LayoutLine[] = []
  for (const key of keys) {
    const rank = getRank(key)
    while (ranked.length <= rank) ranked.push({ main: [], aside: [] })
    ranked[rank]![undo.has(key) ? 'aside' : 'main'].push(key)
  }
  return ranked.flatMap(({ main, aside }) => {
    const lines = Array.from(
      { length: Math.max(1, Math.ceil(main.length / MAX_NODES_PER_LINE)) },
      (_, index) => ({
        main: main.slice(index * MAX_NODES_PER_LINE, (index + 1) * MAX_NODES_PER_LINE),
        aside: [] as string[],
      }),
    )
    lines[0]!.aside.push(...aside)
    return lines
  })
}

function joinLine(main: readonly LayoutBlock[], aside: readonly LayoutBlock[]): LayoutBlock {
  // One alone stands with its own line on the common one; several stand around it. What stands
  // aside does so also where nothing is beside it.
  const width = main.length === 0 ? NODE_SIZE.width : getLineWidth(main)
  const [left, right] = main.length === 1 ? [main[0]!.left, main[0]!.right] : [width / 2, width / 2]
  return {
    left,
    right: right + (aside.length > 0 ? GAP.across + getLineWidth(aside) : 0),
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

function getLineWidth(line: readonly LayoutBlock[]): number {
  return (
    line.reduce((sum, { left, right }) => sum + left + right, 0) +
    GAP.across * Math.max(0, line.length - 1)
  )
}
