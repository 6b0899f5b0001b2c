import { describe, expect, test } from 'vitest'
import { createGraph, layoutGraph } from '../../../src/views/model/graph.ts'
import type { GraphBox } from '../../../src/views/model/graph.ts'
import { getNodeStatuses } from '../../../src/views/model/graph-status.ts'
import type { StepModel, StepState } from '../../../src/views/model/run-model.ts'
import { normalizeWorkflow } from '../../../src/workflow/definition/parse-workflow.ts'
import { createPlan } from '../../../src/workflow/plan.ts'

const { steps } = createPlan(
  normalizeWorkflow({
    name: 'nightly',
    input: { root: 'string', files: 'string[]' },
    steps: [
      { name: 'scan', command: './tool scan --root ${{ input.root }}' },
      {
        name: 'choose',
        decision_type: 'strategy',
        instruction: 'Which?',
        when: 'input.root == "src"',
      },
      {
        name: 'shards',
        tasks: ['part 1', { name: 'two', tool: 'part', input: { of: '${{ steps.scan.result }}' } }],
      },
      {
        name: 'files',
        each: {
          items: '${{ input.files }}',
          as: 'file',
          do: [
            {
              name: 'copy',
              command: 'copy ${{ file }}',
              compensate: ['drop ${{ file }}', 'tell ${{ file }}'],
            },
            { name: 'check', command: 'check ${{ steps.copy.result }} ${{ steps.scan.result }}' },
          ],
        },
      },
      {
        name: 'sub',
        workflow: { name: 'inner', steps: [{ name: 'deep', command: 'x' }], finally: ['y'] },
      },
    ],
    finally: [{ name: 'clean', command: 'clean ${{ steps.scan.result }}' }],
  }),
)

const edges = (kind: string) =>
  createGraph(steps)
    .edges.filter((edge) => edge.kind === kind)
    .map(({ from, to, label }) => `${from} > ${to}${label === undefined ? '' : ` if ${label}`}`)

describe('a definition as a graph [10.graph-model]', () => {
  test('boxes for steps, frames for what holds steps', () => {
    const { nodes, clusters } = createGraph(steps)
    expect(nodes.map(({ key, parent = '' }) => [key, parent])).toEqual([
      ['scan', ''],
      ['choose', ''],
      ['shards/0', 'shards'],
      ['shards/two', 'shards'],
      ['files/*/copy', 'files'],
      ['files/*/copy~undo/tool-1', 'files'],
      ['files/*/copy~undo/tool-2', 'files'],
      ['files/*/check', 'files'],
      ['sub/deep', 'sub'],
      ['sub/finally/tool-1', 'sub/finally'],
      ['finally/clean', 'finally'],
    ])
    expect(clusters.map(({ key, label, parent = '' }) => [key, label, parent])).toEqual([
      ['shards', 'in parallel, 4 at a time', ''],
      ['files', 'for each, 4 at a time', ''],
      ['sub', 'workflow inner', ''],
      ['sub/finally', 'however it ends', 'sub'],
      ['finally', 'however it ends', ''],
    ])
    expect(nodes.slice(0, 4).map(({ name, label }) => `${name}: ${label}`)).toEqual([
      'scan: ./tool scan --root ${{ input.root }}',
      'choose: Which?',
      '0: part 1',
      'two: part',
    ])
  })

  test('what follows what, on which condition; tasks beside each other follow nothing', () => {
    expect(edges('order')).toEqual([
      'scan > choose if input.root == "src"',
      'choose > shards',
      'shards > files',
      'files/*/copy > files/*/check',
      'files > sub',
      'sub/deep > sub/finally',
      'sub > finally',
    ])
    expect(edges('undo')).toEqual([
      'files/*/copy > files/*/copy~undo/tool-1',
      'files/*/copy~undo/tool-1 > files/*/copy~undo/tool-2',
    ])
  })

  test('what uses what another one gave, unless it is the one before it', () => {
    expect(edges('need')).toEqual([
      'scan > shards/two',
      'scan > files/*/check',
      'scan > finally/clean',
    ])
  })

  test('every edge leads from something that is drawn to something that is drawn', () => {
    const graph = createGraph(steps)
    const keys = new Set([...graph.nodes, ...graph.clusters].map(({ key }) => key))
    expect(graph.edges.filter(({ from, to }) => !keys.has(from) || !keys.has(to))).toEqual([])
    expect(createGraph([])).toEqual({ nodes: [], clusters: [], edges: [] })
  })
})

describe('where its boxes are [10.graph-layout]', () => {
  const graph = createGraph(steps)
  const { boxes, width, height } = layoutGraph(graph)
  const overlap = (left: GraphBox, right: GraphBox) =>
    left.x < right.x + right.width &&
    right.x < left.x + left.width &&
    left.y < right.y + right.height &&
    right.y < left.y + left.height

  test('everything has a place inside the picture, boxes touch no box, and frames hold what is in them', () => {
    const all = [...graph.nodes, ...graph.clusters]
    expect(all.filter(({ key }) => !boxes.has(key))).toEqual([])
    expect(
      [...boxes.values()].filter(
        (box) => box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height,
      ),
    ).toEqual([])
    const pairs = all.flatMap((one, index) =>
      all
        .slice(index + 1)
        .filter((other) => other.parent === one.parent)
        .map((other) => [one.key, other.key] as const),
    )
    expect(pairs.filter(([one, other]) => overlap(boxes.get(one)!, boxes.get(other)!))).toEqual([])
    expect(
      all.filter(
        ({ key, parent }) =>
          parent !== undefined &&
          (boxes.get(key)!.x < boxes.get(parent)!.x ||
            boxes.get(key)!.y < boxes.get(parent)!.y + 20 ||
            boxes.get(key)!.x + boxes.get(key)!.width >
              boxes.get(parent)!.x + boxes.get(parent)!.width),
      ),
    ).toEqual([])
  })

  test('what follows is below, what is at the same time is beside, what takes back is to the right', () => {
    expect(
      graph.edges.filter(
        ({ from, to, kind }) =>
          kind !== 'need' && boxes.get(to)!.y < boxes.get(from)!.y + boxes.get(from)!.height,
      ),
    ).toEqual([])
    expect(boxes.get('shards/0')!.y).toBe(boxes.get('shards/two')!.y)
    expect(boxes.get('files/*/copy~undo/tool-1')!.x).toBeGreaterThan(boxes.get('files/*/copy')!.x)
    expect(boxes.get('scan')!.x).toBe(boxes.get('choose')!.x)
  })

  test('many tasks are broken into lines', () => {
    const many = createGraph(
      createPlan(
        normalizeWorkflow({
          name: 'many',
          steps: [
            {
              name: 'all',
              tasks: Array.from({ length: 30 }, (_, index) => ({
                name: `t${index}`,
                command: 'x',
              })),
            },
          ],
        }),
      ).steps,
    )
    expect(layoutGraph(many).width).toBeLessThan(1000)
    expect(layoutGraph({ nodes: [], clusters: [], edges: [] }).boxes.size).toBe(0)
  })
})

describe('how its boxes stand [10.graph-states]', () => {
  const step = (key: string, state: StepState, more: Partial<StepModel> = {}): StepModel => ({
    key,
    name: key,
    depth: 0,
    state,
    tries: 1,
    spans: [],
    ...more,
  })

  test('a step stands as its own, and what has not begun is not there', () => {
    const standings = getNodeStatuses(steps, [
      step('scan', 'ok', { began: 10, ended: 30, run_id: 'r-1' }),
      step('shards/0', 'running', { began: 40, percent: 12, last: 'half' }),
    ])
    expect([...standings.keys()]).toEqual(['scan', 'shards/0'])
    expect(standings.get('scan')).toEqual({
      state: 'ok',
      keys: ['scan'],
      tries: 1,
      began: 10,
      ended: 30,
      run_id: 'r-1',
    })
    expect(standings.get('shards/0')).toMatchObject({ state: 'running', percent: 12, last: 'half' })
  })

  test('a step for each item collects them', () => {
    const copies = Array.from({ length: 12 }, (_, index) =>
      step(`files/${index}/copy`, index < 7 ? 'ok' : index === 7 ? 'failed' : 'running', {
        began: index,
        ...(index < 8 && { ended: 100 + index }),
        ...(index === 7 && { error: 'E_X' }),
      }),
    )
    const standing = getNodeStatuses(steps, [step('files', 'running'), ...copies]).get(
      'files/*/copy',
    )!
    expect(standing).toMatchObject({ state: 'running', items: '7 of 12', began: 0 })
    expect(standing).not.toHaveProperty('ended')
    expect(standing.keys).toHaveLength(12)
    const over = getNodeStatuses(steps, copies.slice(0, 8)).get('files/*/copy')
    expect(over).toMatchObject({ state: 'failed', items: '7 of 8', error: 'E_X', ended: 107 })
    expect(
      getNodeStatuses(steps, [step('files/0/copy~undo/tool-1', 'ok')]).get(
        'files/*/copy~undo/tool-1',
      ),
    ).toMatchObject({ state: 'ok', items: '1 of 1' })
  })

  test('items of a list that is tried again are counted once, and by their later try', () => {
    const standing = getNodeStatuses(steps, [
      step('files/0/copy', 'failed'),
      step('files/1/copy', 'ok'),
      step('files#2/0/copy', 'ok'),
      step('files#2/1/copy#3', 'ok'),
    ]).get('files/*/copy')
    expect(standing).toMatchObject({
      state: 'ok',
      items: '2 of 2',
      keys: ['files#2/0/copy', 'files#2/1/copy#3'],
    })
  })
})
