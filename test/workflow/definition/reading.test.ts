import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ToolError } from '../../../src/protocol/tool-error.ts'
import { hashWorkflow } from '../../../src/workflow/request.ts'
import { normalizeWorkflow } from '../../../src/workflow/definition/parse-workflow.ts'
import { parseWorkflowText } from '../../../src/workflow/definition/load.ts'
import { listToolNames } from '../../../src/workflow/definition/walk.ts'
import { rounds } from '../../support/rounds.ts'

const EVERYTHING = {
  name: 'all',
  version: '1',
  summary: 'Everything',
  description: 'At length',
  timeout: '2h',
  input: {
    root: 'string',
    limit: 'integer?',
    tags: 'string[]',
    mode: { type: 'string', default: 'fast' },
    any: 'any?',
    opt: { type: 'number', required: false },
  },
  steps: [
    {
      type: 'tool',
      name: 'scan',
      command: './tool scan --root ${{ input.root }}',
      retry: 2,
      timeout: '90s',
      permissions: { filesystem: 'read', network: { egress_allow: ['a.example:443'] } },
    },
    {
      tool: 'fs.copy',
      input: { from: '${{ steps.scan.result[0].path }}', deep: [{ x: '${{ input.limit }}' }] },
      compensate: 'remove x',
      retry: { max: 5, delay: '500ms', on: 'TIMEOUT' },
    },
    {
      type: 'ai_decision',
      name: 'choose',
      decision_type: 'strategy',
      instruction: 'of ${{ steps.scan.result.length }}',
      options: ['a', { value: 'b', label: 'B' }],
      default: 'a',
      context: { n: '${{ steps.scan.result }}' },
    },
    {
      name: 'shards',
      tasks: ['transform 1', { command: 'transform 2', name: 'two' }],
      max_concurrency: 2,
      on_error: 'continue',
    },
    {
      name: 'files',
      when: '${{ steps.choose.result == "a" }}',
      each: {
        items: '${{ steps.scan.result }}',
        as: 'file',
        do: [
          { command: 'touch ${{ file.path }} ${{ file_index }}' },
          { tool: 'x', input: { before: '${{ steps.tool-1.result }}' } },
        ],
      },
    },
    { type: 'each', items: [1, 2], do: ['show ${{ item }}'] },
    { wait: '1h30m' },
    { wait: 0 },
    { wait: '${{ input.limit }}' },
    { wait: { until: '2030-01-31T08:00:00Z' } },
    { wait: { answer: 'Go on?' } },
    { type: 'wait', for: 10 },
    { type: 'wait', answer: { prompt: 'x', options: ['y'], schema: { type: 'string' } } },
    {
      workflow: { steps: ['inner ${{ input.x }}'] },
      input: { x: '${{ steps.shards.result }}' },
      when: true,
    },
  ],
  finally: [{ name: 'clean', command: 'clean ${{ workflow.id }} ${{ steps.files.status }}' }],
  output: { files: '${{ steps.scan.result }}', errors: '${{ steps.shards.errors }}' },
}

describe('short forms are written out [9.definition]', () => {
  const workflow = normalizeWorkflow(EVERYTHING)

  test('fields of the input become a JSON Schema', () => {
    expect(workflow.input).toEqual({
      type: 'object',
      required: ['root', 'tags'],
      additionalProperties: false,
      properties: {
        root: { type: 'string' },
        limit: { type: 'integer' },
        tags: { type: 'array', items: { type: 'string' } },
        mode: { type: 'string', default: 'fast' },
        any: {},
        opt: { type: 'number' },
      },
    })
    const schema = { type: 'object', properties: { a: {} } }
    expect(normalizeWorkflow({ input: schema, steps: ['x ${{ input.a }}'] }).input).toEqual(schema)
  })

  test('kinds, names and limits', () => {
    expect(workflow.timeout).toBe(7200)
    expect(workflow.steps.map(({ type, name }) => `${type} ${name}`)).toEqual([
      'tool scan',
      'tool tool-2',
      'ai_decision choose',
      'parallel shards',
      'each files',
      'each each-6',
      'wait wait-7',
      'wait wait-8',
      'wait wait-9',
      'wait wait-10',
      'wait wait-11',
      'wait wait-12',
      'wait wait-13',
      'workflow workflow-14',
    ])
    expect(workflow.steps).toMatchObject([
      { retry: { max: 2, delay: 1, factor: 2, longest: 60 }, timeout: 90 },
      {
        compensate: [{ type: 'tool', name: 'tool-1', command: 'remove x' }],
        retry: { max: 5, delay: 0.5, on: ['TIMEOUT'] },
      },
      { options: [{ value: 'a' }, { value: 'b', label: 'B' }] },
      {
        tasks: [{ type: 'tool', name: '0', command: 'transform 1' }, { name: 'two' }],
        max_concurrency: 2,
      },
      {
        items: '${{ steps.scan.result }}',
        as: 'file',
        max_concurrency: 4,
        do: [{ name: 'tool-1' }, { name: 'tool-2' }],
      },
      { items: [1, 2], as: 'item' },
      { for: 5400 },
      { for: 0 },
      { for: '${{ input.limit }}' },
      { until: '2030-01-31T08:00:00Z' },
      { answer: { prompt: 'Go on?' } },
      { for: 10 },
      { answer: { prompt: 'x', options: [{ value: 'y' }] } },
      {
        workflow: { name: 'workflow', steps: [{ command: 'inner ${{ input.x }}' }] },
        when: 'true',
      },
    ])
    expect(JSON.parse(JSON.stringify(workflow))).toEqual(workflow)
  })

  test('what is written out goes through unchanged, and has the same hash in any order of keys', () => {
    const again = normalizeWorkflow(JSON.parse(JSON.stringify(workflow)))
    expect(again).toEqual(workflow)
    expect(hashWorkflow(workflow)).toMatch(/^[0-9a-f]{64}$/)
    const turned = {
      ...Object.fromEntries(Object.entries(workflow).reverse()),
    } as unknown as typeof workflow
    expect(hashWorkflow(turned)).toBe(hashWorkflow(workflow))
    expect(hashWorkflow({ ...workflow, version: '2' })).not.toBe(hashWorkflow(workflow))
  })

  test('the tools are known, those of compensations and nested workflows too', () => {
    expect(listToolNames(workflow)).toEqual([
      'scan',
      'fs.copy',
      'remove',
      'transform',
      'touch',
      'x',
      'show',
      'inner',
      'clean',
    ])
  })

  test('the form of older orchestrators is understood: no name, kinds written out, bare commands', async () => {
    const old =
      '{"steps":[{"type":"tool","name":"analyze","command":"example_processor --input data.json"},{"type":"ai_decision","name":"decide","decision_type":"choose_strategy","instruction":"Pick"},{"type":"parallel","name":"shards","tasks":["transform --part 1","transform --part 2"],"max_concurrency":4}]}'
    expect(await parseWorkflowText('nightly build.json', old)).toEqual({
      name: 'nightly-build',
      steps: [
        { type: 'tool', name: 'analyze', command: 'example_processor --input data.json' },
        {
          type: 'ai_decision',
          name: 'decide',
          decision_type: 'choose_strategy',
          instruction: 'Pick',
        },
        {
          type: 'parallel',
          name: 'shards',
          tasks: [
            { type: 'tool', name: '0', command: 'transform --part 1' },
            { type: 'tool', name: '1', command: 'transform --part 2' },
          ],
          max_concurrency: 4,
        },
      ],
    })
  })

  test('YAML, JSON and data give the same workflow', async () => {
    const text = JSON.stringify(EVERYTHING)
    expect(await parseWorkflowText('a.yaml', text)).toEqual(workflow)
    expect(await parseWorkflowText('a.json', text)).toEqual(workflow)
    expect(await parseWorkflowText('a.flow', text)).toEqual(workflow)
  })

  test('names that are made never meet names that are given', () => {
    const { steps } = normalizeWorkflow({
      steps: [
        'a',
        { name: 'tool-1', command: 'b' },
        { name: 'p', tasks: ['c', { name: '0', command: 'd' }] },
      ],
    })
    expect(steps.map(({ name }) => name)).toEqual(['tool-1-2', 'tool-1', 'p'])
    expect(steps[2]).toMatchObject({ tasks: [{ name: '0-2' }, { name: '0' }] })
    expect(normalizeWorkflow({ name: 'workflow', steps })).toEqual({ name: 'workflow', steps })
  })

  test('durations as people write them', () => {
    const seconds = (wait: unknown): unknown =>
      (normalizeWorkflow({ steps: [{ wait }] }).steps[0] as { for?: unknown }).for
    expect([5, '5', '500ms', '1.5h', '1h30m', '2d', '1m 30s', 0.25].map(seconds)).toEqual([
      5, 5, 0.5, 5400, 5400, 172_800, 90, 0.25,
    ])
  })
})

test('any JSON is a workflow that goes through unchanged, or a CONFIG error with problems [9.definition-problems]', () => {
  const word = fc.constantFrom(
    'steps',
    'name',
    'type',
    'tool',
    'command',
    'tasks',
    'each',
    'items',
    'as',
    'do',
    'wait',
    'for',
    'until',
    'answer',
    'workflow',
    'input',
    'when',
    'retry',
    'timeout',
    'compensate',
    'finally',
    'output',
    'decision_type',
    'options',
    'schema',
    'max_concurrency',
    '__proto__',
    'constructor',
  )
  const leaf = fc.oneof(
    fc.constantFrom(
      'parallel',
      'a',
      '${{ steps.a.result }}',
      '${{ input }}',
      '${{',
      "x 'y",
      '',
      '10m',
      'true',
      'x --y z',
    ),
    fc.integer({ min: -2, max: 5 }),
    fc.boolean(),
    fc.constant(null),
  )
  const { any } = fc.letrec<{ readonly any: unknown }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(word, tie('any'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(fc.array(any, { minLength: 1, maxLength: 3 }), any, (steps, rest) => {
      const value = { ...(typeof rest === 'object' && !Array.isArray(rest) ? rest : {}), steps }
      try {
        const workflow = normalizeWorkflow(value)
        expect(normalizeWorkflow(JSON.parse(JSON.stringify(workflow)))).toEqual(workflow)
      } catch (error) {
        if (!ToolError.is(error)) throw error
        expect([error.code, (error.details!['problems'] as unknown[]).length > 0]).toEqual([
          'CONFIG',
          true,
        ])
      }
    }),
    { numRuns: rounds(1500) },
  )
})

test('objects without end, functions and the like are refused [9.definition-problems]', () => {
  const circle: { steps: unknown[] } = { steps: [] }
  circle.steps.push({ name: 'a', workflow: circle })
  expect(() => normalizeWorkflow(circle)).toThrow('nested more than 10 levels')
  const list: unknown[] = []
  list.push({ tasks: list })
  expect(() => normalizeWorkflow({ steps: list })).toThrow('nested more than 20 levels')
  const input: { [key: string]: unknown } = {
    f: () => 1,
    n: NaN,
    d: new Date(0),
    big: 1n,
    ok: undefined,
  }
  input['self'] = [input, input]
  expect(() => normalizeWorkflow({ steps: [{ tool: 'x', input }] })).toThrow(
    /input\.f: a function is nothing that JSON can hold\n.*NaN[^]*an object of a class[^]*self\[1\]: the value contains itself/,
  )
  let deep: unknown = 'x'
  for (let level = 0; level < 20_000; level += 1) deep = { tasks: [deep] }
  expect(() => normalizeWorkflow({ steps: [deep] })).toThrow('nested more than 20 levels')
  let wide: unknown = 1
  for (let level = 0; level < 50; level += 1) wide = [wide, wide]
  expect(() => normalizeWorkflow({ steps: [{ tool: 'x', input: { wide } }] })).toThrow(
    'more than 50000 parts',
  )
  const twins: unknown[] = []
  twins.push({ tasks: twins }, { tasks: twins, compensate: twins }, { workflow: { steps: twins } })
  expect(() => normalizeWorkflow({ steps: twins })).toThrow(/nested more than/)
})

test.each([
  'as',
  'retry.on',
  'retry.factor',
  'retry.max',
  'retry.delay',
  'type',
  'name',
  'command',
  'tool',
  'when',
  'timeout',
  'on_error',
  'max_concurrency',
  'items',
  'do',
  'wait',
  'until',
  'prompt',
  'options',
  'decision_type',
])(
  'an object that cannot be made a text is refused like any other: %s [9.definition-problems]',
  (key) => {
    for (const odd of [
      JSON.parse('{"toString": 1, "valueOf": 1}') as unknown,
      Object.create(null) as unknown,
      [Object.create(null)],
    ]) {
      const retry = key.startsWith('retry.') ? { retry: { [key.slice(6)]: odd } } : {}
      const each = { items: [1], do: ['x'] }
      const step = ['as', 'items', 'do'].includes(key)
        ? { ...each, [key]: odd }
        : key === 'max_concurrency'
          ? { tasks: ['x'], [key]: odd }
          : key === 'until'
            ? { wait: { until: odd } }
            : key === 'prompt'
              ? { wait: { answer: { prompt: odd } } }
              : key === 'options'
                ? { decision_type: 'x', options: [odd] }
                : ['tool', 'wait', 'decision_type'].includes(key)
                  ? { [key]: odd }
                  : { command: 'x', ...(Object.keys(retry).length > 0 ? retry : { [key]: odd }) }
      const accepted = key === 'items' && Array.isArray(odd)
      const read = (): unknown => normalizeWorkflow({ steps: [step] })
      if (accepted) expect(read()).toMatchObject({ steps: [{ items: [{}] }] })
      else expect(read).toThrow(expect.objectContaining({ code: 'CONFIG' }))
    }
  },
)
