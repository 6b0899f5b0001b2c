import { describe, expect, test } from 'vitest'
import { graphOf } from '../../../src/views/model/graph/graph-of.ts'
import { standingsOf } from '../../../src/views/model/graph/standings-of.ts'
import type { StepModel, StepState } from '../../../src/views/model/run-model/run-model-type.ts'
import { normaliseWorkflow } from '../../../src/workflow/definition/normalise-workflow.ts'
import { planOf } from '../../../src/workflow/outline/plan-of.ts'

const { steps } = planOf(normaliseWorkflow({
  name: 'nightly', input: { root: 'string', files: 'string[]' },
  steps: [
    { name: 'scan', command: './tool scan --root ${{ input.root }}' },
    { name: 'choose', decision_type: 'strategy', instruction: 'Which?', when: 'input.root == "src"' },
    { name: 'shards', tasks: ['part 1', { name: 'two', tool: 'part', input: { of: '${{ steps.scan.result }}' } }] },
    { name: 'files', each: { items: '${{ input.files }}', as: 'file', do: [{ name: 'copy', command: 'copy ${{ file }}', compensate: ['drop ${{ file }}', 'tell ${{ file }}'] }, { name: 'check', command: 'check ${{ steps.copy.result }} ${{ steps.scan.result }}' }] } },
    { name: 'sub', workflow: { name: 'inner', steps: [{ name: 'deep', command: 'x' }], finally: ['y'] } },
  ],
  finally: [{ name: 'clean', command: 'clean ${{ steps.scan.result }}' }],
}))

const edges = (kind: string) => graphOf(steps).edges.filter((edge) => edge.kind === kind).map(({ from, to, label }) => `${from} > ${to}${label === undefined ? '' : ` if ${label}`}`)

describe('a definition as a graph [10.graph-model]', () => {
  test('boxes for steps, frames for what holds steps', () => {
    const { nodes, clusters } = graphOf(steps)
    expect(nodes.map(({ key, parent = '' }) => [key, parent])).toEqual([
      ['scan', ''], ['choose', ''], ['shards/0', 'shards'], ['shards/two', 'shards'], ['files/*/copy', 'files'], ['files/*/copy~undo/tool-1', 'files'], ['files/*/copy~undo/tool-2', 'files'],
      ['files/*/check', 'files'], ['sub/deep', 'sub'], ['sub/finally/tool-1', 'sub/finally'], ['finally/clean', 'finally'],
    ])
    expect(clusters.map(({ key, label, parent = '' }) => [key, label, parent])).toEqual([
      ['shards', 'in parallel, 4 at a time', ''], ['files', 'for each, 4 at a time', ''], ['sub', 'workflow inner', ''], ['sub/finally', 'however it ends', 'sub'], ['finally', 'however it ends', ''],
    ])
    expect(nodes.slice(0, 4).map(({ name, label }) => `${name}: ${label}`)).toEqual(['scan: ./tool scan --root ${{ input.root }}', 'choose: Which?', '0: part 1', 'two: part'])
  })

  test('what follows what, on which condition; tasks beside each other follow nothing', () => {
    expect(edges('order')).toEqual(['scan > choose if input.root == "src"', 'choose > shards', 'shards > files', 'files/*/copy > files/*/check', 'files > sub', 'sub/deep > sub/finally', 'sub > finally'])
    expect(edges('undo')).toEqual(['files/*/copy > files/*/copy~undo/tool-1', 'files/*/copy~undo/tool-1 > files/*/copy~undo/tool-2'])
  })

  test('what uses what another one gave, unless it is the one before it', () => {
    expect(edges('need')).toEqual(['scan > shards/two', 'scan > files/*/check', 'scan > finally/clean'])
  })

  test('every edge leads from something that is drawn to something that is drawn', () => {
    const graph = graphOf(steps)
    const keys = new Set([...graph.nodes, ...graph.clusters].map(({ key }) => key))
    expect(graph.edges.filter(({ from, to }) => !keys.has(from) || !keys.has(to))).toEqual([])
    expect(graphOf([])).toEqual({ nodes: [], clusters: [], edges: [] })
  })
})

describe('how its boxes stand [10.graph-states]', () => {
  const step = (key: string, state: StepState, more: Partial<StepModel> = {}): StepModel => ({ key, name: key, depth: 0, state, tries: 1, spans: [], ...more })

  test('a step stands as its own, and what has not begun is not there', () => {
    const standings = standingsOf(steps, [step('scan', 'ok', { began: 10, ended: 30, run_id: 'r-1' }), step('shards/0', 'running', { began: 40, percent: 12, last: 'half' })])
    expect([...standings.keys()]).toEqual(['scan', 'shards/0'])
    expect(standings.get('scan')).toEqual({ state: 'ok', keys: ['scan'], tries: 1, began: 10, ended: 30, run_id: 'r-1' })
    expect(standings.get('shards/0')).toMatchObject({ state: 'running', percent: 12, last: 'half' })
  })

  test('a step for each item collects them', () => {
    const copies = Array.from({ length: 12 }, (_, index) => step(`files/${index}/copy`, index < 7 ? 'ok' : index === 7 ? 'failed' : 'running', { began: index, ...(index < 8 && { ended: 100 + index }), ...(index === 7 && { error: 'E_X' }) }))
    const standing = standingsOf(steps, [step('files', 'running'), ...copies]).get('files/*/copy')!
    expect(standing).toMatchObject({ state: 'running', items: '7 of 12', began: 0 })
    expect(standing).not.toHaveProperty('ended')
    expect(standing.keys).toHaveLength(12)
    const over = standingsOf(steps, copies.slice(0, 8)).get('files/*/copy')
    expect(over).toMatchObject({ state: 'failed', items: '7 of 8', error: 'E_X', ended: 107 })
    expect(standingsOf(steps, [step('files/0/copy~undo/tool-1', 'ok')]).get('files/*/copy~undo/tool-1')).toMatchObject({ state: 'ok', items: '1 of 1' })
  })

  test('items of a list that is tried again are counted once, and by their later try', () => {
    const standing = standingsOf(steps, [step('files/0/copy', 'failed'), step('files/1/copy', 'ok'), step('files#2/0/copy', 'ok'), step('files#2/1/copy#3', 'ok')]).get('files/*/copy')
    expect(standing).toMatchObject({ state: 'ok', items: '2 of 2', keys: ['files#2/0/copy', 'files#2/1/copy#3'] })
  })
})
