import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tool, workflow } from 'toolable'
import type { BuiltWorkflow } from 'toolable'
import { parseWorkflowText } from '../../../src/workflow/definition/load.ts'

const findFiles = tool({
  name: 'find_files',
  summary: 's',
  input: z.object({ root: z.string() }),
  output: z.array(z.object({ path: z.string(), size: z.number() })),
  run: () => [],
})
const copyFile = tool({
  name: 'copy_file',
  summary: 's',
  input: z.object({ from: z.string(), place: z.number().optional() }),
  output: z.object({ to: z.string() }),
  run: () => ({ to: '' }),
})

const sub = workflow(
  {
    name: 'sub',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
  (w) => w.command('say', `say --text ${w.input['text']}`),
)

const everything = workflow(
  {
    name: 'everything',
    version: '2',
    summary: 'Does everything',
    description: 'At length',
    timeout: '2h',
    input: z.object({
      root: z.string().default('.'),
      most: z.number(),
      src: z.string().optional(),
    }),
  },
  (w) => {
    const scan = w.tool(
      'scan',
      findFiles,
      { root: w.input.root },
      {
        retry: { max: 2, delay: '500ms', on: ['TIMEOUT'] },
        timeout: '5m',
        permissions: { network: 'none' },
      },
    )
    const go = w.decision('go', {
      decisionType: 'proceed',
      instruction: `Move ${scan.result[0].path}?`,
      options: ['yes', { value: 'no', label: 'No' }],
      default: 'no',
      timeout: 60,
      context: { files: scan.result },
    })
    const both = w.parallel(
      'both',
      (p) => [
        p.tool(
          'first',
          copyFile,
          { from: scan.result[0].path },
          { compensate: (undo, made) => undo.tool('drop', 'remove', { path: made.result.to }) },
        ),
        p.command('second', `data_migrator --source ${w.input.src} --flag 'two words'`),
        'data_migrator --shard 1',
      ],
      { maxConcurrency: 2, onError: 'continue' },
    )
    w.each(
      'move',
      scan.result,
      (file, e, index) => {
        e.tool('copy', copyFile, { from: file.path, place: index })
        e.each('again', [1, 'two', file.size], (item, inner) => {
          inner.tool('log', 'log', { item, of: file.path })
        })
      },
      {
        as: 'file',
        when: w.and(w.equals(go.result, 'yes'), w.less(w.input.most, 10)),
        maxConcurrency: 8,
      },
    )
    w.wait('pause', '10m')
    w.wait('until', { until: '2030-01-31T08:00:00Z' })
    w.wait('as-told', { until: new Date(Date.UTC(2031, 0, 1)) })
    const who = w.ask('who', { prompt: 'Who?', schema: { type: 'string' }, timeout: '1h' })
    const nested = w.nested('sub', sub, { text: who.result }, { onError: 'continue', retry: 0 })
    w.tool('bare', 'github.search')
    w.finally((f) => {
      f.tool('clean', 'remove', { path: scan.result[0].path })
    })
    return {
      first: both.result[0],
      ran: w.workflow.id,
      said: nested.result,
      note: `by ${who.result}`,
    }
  },
)

const YAML = `
name: everything
version: '2'
summary: Does everything
description: At length
timeout: 2h
input:
  type: object
  properties:
    root: { type: string, default: . }
    most: { type: number }
    src: { type: string }
  required: [most]
  additionalProperties: false
steps:
  - name: scan
    tool: find_files
    input: { root: '\${{ input.root }}' }
    retry: { max: 2, delay: 500ms, on: [TIMEOUT] }
    timeout: 5m
    permissions: { network: none }
  - name: go
    decision_type: proceed
    instruction: Move \${{ steps.scan.result[0].path }}?
    options: ['yes', { value: 'no', label: 'No' }]
    default: 'no'
    timeout: 60
    context: { files: '\${{ steps.scan.result }}' }
  - name: both
    max_concurrency: 2
    on_error: continue
    tasks:
      - name: first
        tool: copy_file
        input: { from: '\${{ steps.scan.result[0].path }}' }
        compensate: { name: drop, tool: remove, input: { path: '\${{ steps.first.result.to }}' } }
      - name: second
        command: data_migrator --source \${{ input.src }} --flag 'two words'
      - data_migrator --shard 1
  - name: move
    when: \${{ steps.go.result == 'yes' && input.most < 10 }}
    max_concurrency: 8
    each:
      items: \${{ steps.scan.result }}
      as: file
      do:
        - { name: copy, tool: copy_file, input: { from: '\${{ file.path }}', place: '\${{ file_index }}' } }
        - name: again
          each:
            items: [1, two, '\${{ file.size }}']
            do:
              - { name: log, tool: log, input: { item: '\${{ item }}', of: '\${{ file.path }}' } }
  - { name: pause, wait: 10m }
  - { name: until, wait: { until: '2030-01-31T08:00:00Z' } }
  - { name: as-told, wait: { until: '2031-01-01T00:00:00.000Z' } }
  - { name: who, wait: { answer: { prompt: 'Who?', schema: { type: string } } }, timeout: 1h }
  - name: sub
    on_error: continue
    retry: 0
    input: { text: '\${{ steps.who.result }}' }
    workflow:
      name: sub
      input: { type: object, properties: { text: { type: string } }, required: [text] }
      steps: [{ name: say, command: 'say --text \${{ input.text }}' }]
      output: \${{ steps.say.result }}
  - { name: bare, tool: github.search }
finally:
  - { name: clean, tool: remove, input: { path: '\${{ steps.scan.result[0].path }}' } }
output: { first: '\${{ steps.both.result[0] }}', ran: '\${{ workflow.id }}', said: '\${{ steps.sub.result }}', note: 'by \${{ steps.who.result }}' }
`

describe('[9.builder-data] a workflow in TypeScript', () => {
  test('is the same data as in YAML, with every kind of step', async () => {
    expect(await everything.definition()).toEqual(await parseWorkflowText('everything.yaml', YAML))
  })

  test('is JSON that reads as itself', async () => {
    const definition = await everything.definition()
    const text = JSON.stringify(definition)
    expect(await parseWorkflowText('again.json', text)).toEqual(definition)
    expect(await everything.definition()).toBe(definition)
  })

  test('is checked like any other: what the builder cannot see is told with its place', async () => {
    const twice = workflow({ name: 'twice' }, (w) => {
      w.tool('a', 'x')
      w.tool('a', 'y')
      w.tool('b', 'not a name')
      w.tool('c', 'x', {}, { timeout: 'soon' })
    })
    await expect(twice.definition()).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(
        /steps\[1\]\.name: the name 'a' is there twice[^]*steps\[2\]\.tool[^]*steps\[3\]\.timeout/,
      ),
    })
    const misfit = workflow({ name: 'misfit' }, (w) => {
      w.nested('n', sub, { txt: 'x' } as never)
    })
    await expect(misfit.definition()).rejects.toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(
        /^steps\[0\]\.input\.txt: unknown key 'txt'[^]*steps\[0\]\.input\.text: text is required/,
      ),
    })
    const inner: BuiltWorkflow = workflow({ name: 'inner' }, (w) => {
      w.nested('x', outer, {})
    })
    const outer: BuiltWorkflow = workflow({ name: 'outer' }, (w) => {
      w.nested('y', inner, {})
    })
    await expect(outer.definition()).rejects.toMatchObject({
      code: 'CONFIG',
      message: 'workflows contain each other: outer in inner in outer',
    })
    await expect(workflow({ name: 'none' }, () => undefined).definition()).rejects.toMatchObject({
      code: 'CONFIG',
    })
    await expect(
      workflow({ name: 'bad', input: z.string() as never }, (w) => {
        w.tool('a', 'x')
      }).definition(),
    ).rejects.toMatchObject({ code: 'CONFIG' })
  })
})
