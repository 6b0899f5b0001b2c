import type { PlannedNode } from '../wire/workflows.ts'
import type { Graph, GraphCluster, GraphEdge, GraphNode } from './graph-type.ts'
import { labelOfNode } from './label-of-node.ts'

/** A planned step, with the steps inside it in its lists. */
type Branch = {
  readonly planned: PlannedNode
  readonly name: string
  readonly steps: Branch[]
  readonly last: Branch[]
  readonly undo: Branch[]
}
type Scope = { readonly names: ReadonlyMap<string, string>; readonly around?: Scope }

/** What follows what in a definition: boxes in the order of the steps, frames around those that hold others. */
export function graphOf(planned: readonly PlannedNode[]): Graph {
  const drawing = new Drawing()
  const top = treeOf(planned)
  drawing.workflow(top.steps, top.last, '', undefined, undefined)
  return { nodes: drawing.nodes, clusters: drawing.clusters, edges: drawing.edges }
}

class Drawing {
  readonly nodes: GraphNode[] = []
  readonly clusters: GraphCluster[] = []
  readonly edges: GraphEdge[] = []

  workflow(
    steps: readonly Branch[],
    last: readonly Branch[],
    key: string,
    parent: string | undefined,
    around: Scope | undefined,
  ): void {
    const scope = this.list(steps, parent, around)
    if (last.length === 0) return
    const frame = key === '' ? 'finally' : `${key}/finally`
    this.clusters.push({
      key: frame,
      name: 'finally',
      label: 'however it ends',
      ...(parent !== undefined && { parent }),
    })
    const before = steps.at(-1)
    if (before) this.edges.push({ from: before.planned.key, to: frame, kind: 'order' })
    this.list(last, frame, scope)
  }

  // Steps one after the other; gives what can be named after them.
  private list(
    steps: readonly Branch[],
    parent: string | undefined,
    around: Scope | undefined,
  ): Scope {
    const names = new Map<string, string>()
    const scope = { names, ...(around && { around }) }
    for (const [index, branch] of steps.entries()) {
      const before = steps[index - 1]
      const { when } = branch.planned
      if (before)
        this.edges.push({
          from: before.planned.key,
          to: branch.planned.key,
          kind: 'order',
          ...(when !== undefined && { label: when }),
        })
      this.step(branch, parent, scope, before?.planned.key)
      names.set(branch.name, branch.planned.key)
    }
    return scope
  }

  private step(
    branch: Branch,
    parent: string | undefined,
    scope: Scope,
    before: string | undefined,
  ): void {
    const { planned, name, steps, last, undo } = branch
    const { key } = planned
    const shown = {
      key,
      name,
      label: labelOfNode(planned),
      ...(parent !== undefined && { parent }),
      planned,
    }
    for (const from of new Set(planned.needs.flatMap((need) => find(need, scope) ?? [])))
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
    undo: readonly Branch[],
    key: string,
    parent: string | undefined,
    scope: Scope,
  ): void {
    for (const [index, branch] of undo.entries()) {
      const from = undo[index - 1]?.planned.key ?? key
      this.edges.push({ from, to: branch.planned.key, kind: 'undo' })
      this.step(branch, parent, scope, from)
    }
  }
}

// The steps come in the order in which they are written, each after the one that holds it.
function treeOf(planned: readonly PlannedNode[]): Pick<Branch, 'steps' | 'last'> {
  const top = { steps: [] as Branch[], last: [] as Branch[] }
  const open: Branch[] = []
  for (const node of planned) {
    const holder = node.depth === 0 ? undefined : open[node.depth - 1]
    const branch: Branch = {
      planned: node,
      name: node.key.slice(node.key.lastIndexOf('/') + 1),
      steps: [],
      last: [],
      undo: [],
    }
    const rest = holder ? node.key.slice(holder.planned.key.length) : `/${node.key}`
    const { steps, last } = holder ?? top
    ;(holder && rest.startsWith('~undo/')
      ? holder.undo
      : rest.startsWith('/finally/')
        ? last
        : steps
    ).push(branch)
    open.length = Math.min(open.length, node.depth)
    open[node.depth] = branch
  }
  return top
}

function find(need: string, scope: Scope | undefined): string | undefined {
  const name = /^steps\.(.+)$/.exec(need)?.[1]
  for (let at = name === undefined ? undefined : scope; at; at = at.around) {
    const key = at.names.get(name!)
    if (key !== undefined) return key
  }
  return undefined
}
