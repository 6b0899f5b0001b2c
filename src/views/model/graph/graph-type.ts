import type { StepState } from '../run-model/run-model-type.ts'
import type { PlannedNode } from '../wire/workflows.ts'

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

/** From what to what, where each is a box or a frame. `order`: one after the other; `undo`: taken only to take something back; `need`: the one uses what the other gave. */
export type GraphEdge = {
  readonly from: string
  readonly to: string
  readonly kind: 'order' | 'undo' | 'need'
  /** On which condition. */ readonly label?: string
}

/** A definition as boxes, frames and what follows what. */
export type Graph = {
  readonly nodes: readonly GraphNode[]
  readonly clusters: readonly GraphCluster[]
  readonly edges: readonly GraphEdge[]
}

/** How a box stands in a run. One that is taken for each item of a list stands for all of them. */
export type NodeStanding = {
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
