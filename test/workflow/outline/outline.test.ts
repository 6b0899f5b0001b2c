import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { normalizeWorkflow } from '../../../src/workflow/definition/parse-workflow.ts'
import { toMermaid } from '../../../src/workflow/plan.ts'
import { createPlan, formatPlan } from '../../../src/workflow/plan.ts'
import { formatDuration } from '../../../src/workflow/definition/reader.ts'

const workflow = normalizeWorkflow({
  name: 'nightly',
  summary: 'Every night',
  timeout: '1h',
  input: { root: 'string', files: 'string[]' },
  steps: [
    { name: 'scan', command: './tool scan --root ${{ input.root }}', retry: 2, timeout: '90s' },
    {
      name: 'choose',
      decision_type: 'strategy',
      instruction: 'Which?',
      when: 'input.root == "src"',
    },
    {
      name: 'shards',
      tasks: [
        'part 1',
        {
          name: 'two',
          tool: 'part',
          input: { n: 2, of: '${{ steps.scan.result }}' },
          on_error: 'continue',
        },
      ],
    },
    {
      name: 'files',
      each: {
        items: '${{ input.files }}',
        as: 'file',
        do: [
          {
            name: 'copy',
            command: 'copy ${{ file }} ${{ input.root }}',
            compensate: { name: 'drop', command: 'drop ${{ file }}' },
          },
        ],
      },
      max_concurrency: 2,
    },
    { wait: '1h30m' },
    { wait: { until: '2030-01-31T08:00:00Z' } },
    { wait: { answer: 'Go on?' } },
    {
      name: 'sub',
      workflow: {
        name: 'inner',
        steps: [{ name: 'deep', command: 'x ${{ input.root }}' }],
        finally: ['y'],
      },
      input: { root: '${{ input.root }}' },
      retry: 0,
    },
  ],
  finally: [{ name: 'clean', command: 'clean' }],
  output: '${{ steps.scan.result }}',
})

describe('plans [9.workflow-plan]', () => {
  test('every step with its key, in the order of the text', () => {
    expect(
      createPlan(workflow).steps.map(({ key, kind, role, depth }) => [key, kind, role, depth]),
    ).toEqual([
      ['scan', 'tool', 'step', 0],
      ['choose', 'ai_decision', 'step', 0],
      ['shards', 'parallel', 'step', 0],
      ['shards/0', 'tool', 'step', 1],
      ['shards/two', 'tool', 'step', 1],
      ['files', 'each', 'step', 0],
      ['files/*/copy', 'tool', 'step', 1],
      ['files/*/copy~undo/drop', 'tool', 'compensate', 2],
      ['wait-5', 'wait', 'step', 0],
      ['wait-6', 'wait', 'step', 0],
      ['wait-7', 'wait', 'step', 0],
      ['sub', 'workflow', 'step', 0],
      ['sub/deep', 'tool', 'step', 1],
      ['sub/finally/tool-1', 'tool', 'finally', 1],
      ['finally/clean', 'tool', 'finally', 0],
    ])
  })

  test('needs and limits', () => {
    const steps = createPlan(workflow).steps
    expect(steps.map(({ needs }) => needs.join(' '))).toEqual([
      'input.root',
      'input.root',
      '',
      '',
      'steps.scan',
      'input.files',
      'file input.root',
      'file',
      '',
      '',
      '',
      'input.root',
      'input.root',
      '',
      '',
    ])
    expect(steps[0]).toEqual({
      key: 'scan',
      kind: 'tool',
      depth: 0,
      role: 'step',
      tool: 'scan',
      command: './tool scan --root ${{ input.root }}',
      needs: ['input.root'],
      retry: { max: 2, delay: 1, factor: 2, longest: 60 },
      timeout: 90,
    })
    expect(steps[4]).toEqual({
      key: 'shards/two',
      kind: 'tool',
      depth: 1,
      role: 'step',
      tool: 'part',
      input: { n: 2, of: '${{ steps.scan.result }}' },
      needs: ['steps.scan'],
      on_error: 'continue',
    })
    expect(steps.map(({ concurrency }) => concurrency).filter(Boolean)).toEqual([4, 2])
  })

  test('with an input, what follows from it alone is worked out', () => {
    const steps = createPlan(workflow, { root: 'a b', files: ['x', 'y'] }).steps
    expect(steps[0]!.words).toEqual(['scan', '--root', 'a b'])
    expect(steps[1]!.taken).toBe(false)
    expect(steps[5]!.count).toBe(2)
    // An item is not known, and a nested workflow has an input of its own.
    expect([steps[6]!.words, steps[12]!.words]).toEqual([undefined, undefined])
    expect(createPlan(workflow, {}).steps[0]!.words).toBeUndefined()
  })

  test('texts that follow from the input are put in, the others stay as they are written', () => {
    const texts = normalizeWorkflow({
      name: 'texts',
      input: {
        from: 'string',
        to: { type: 'string', default: 'site' },
        most: 'integer',
        on: 'boolean?',
      },
      steps: [
        {
          name: 'a',
          tool: 'copy',
          input: {
            way: '${{ input.from }} ${{ input.to }}',
            most: ['${{ input.most }}'],
            run: '${{ workflow.id }}',
            plain: 'x',
          },
        },
        {
          name: 'b',
          tool: 'copy',
          input: {
            all: '${{ input }}',
            on: '${{ input.on }}',
            both: '${{ input.from }} ${{ steps.a.result }}',
            order: '${{ input.from < input.most }}',
          },
        },
        { name: 'c', decision_type: 'go', instruction: 'Copy ${{ input.from }}?' },
        { name: 'd', wait: '${{ input.most }}' },
        {
          name: 'e',
          workflow: {
            steps: [{ name: 'inner', tool: 'copy', input: { way: '${{ input.way }}' } }],
          },
          input: { way: '${{ input.from }}' },
        },
      ],
      output: ['${{ input.to }}', '${{ steps.a.result }}'],
    })
    const given = { from: 'x', to: 'site', most: 90 }
    expect(
      createPlan(texts, given).steps.map(({ input, question, wait }) => input ?? question ?? wait),
    ).toEqual([
      { way: 'x site', most: [90], run: '${{ workflow.id }}', plain: 'x' },
      {
        all: given,
        on: null,
        both: '${{ input.from }} ${{ steps.a.result }}',
        order: '${{ input.from < input.most }}',
      },
      'Copy x?',
      { for: 90 },
      { way: 'x' },
      { way: '${{ input.way }}' },
    ])
    expect(createPlan(texts, given).output).toEqual(['site', '${{ steps.a.result }}'])
    expect(formatPlan(createPlan(texts, given))).toContain('  d  waits 1m30s\n')
  })

  test('for people', () => {
    expect(formatPlan(createPlan(workflow, { root: 'a b', files: [] })))
      .toBe(`nightly: Every night (at most 1h)
  scan  scan --root 'a b'
      needs input.root; tried again 2 times whatever failed, first after 1s; at most 1m30s
  choose  asks: Which?
      when input.root == "src" (it is not: skipped); needs input.root
  shards  all of these at once
      4 at the same time
    shards/0  part 1
    shards/two  part {"n":2,"of":"\${{ steps.scan.result }}"}
        needs steps.scan; goes on after a failure
  files  for each 'file' of \${{ input.files }} (0)
      needs input.files; 2 at the same time
    files/*/copy  copy \${{ file }} \${{ input.root }}
        needs file, input.root
      files/*/copy~undo/drop  drop \${{ file }}
          needs file
  wait-5  waits 1h30m
  wait-6  waits until 2030-01-31T08:00:00Z
  wait-7  waits for an answer: Go on?
  sub  the workflow inner {"root":"a b"}
      needs input.root; never tried again
    sub/deep  x \${{ input.root }}
        needs input.root
    sub/finally/tool-1  y
  finally/clean  clean
  gives \${{ steps.scan.result }}
`)
  })

  test('control characters of a definition do not reach a terminal', () => {
    expect(
      formatPlan(
        createPlan(normalizeWorkflow({ steps: [{ wait: { answer: 'a\u001b[31m\nb' } }] })),
      ),
    ).toBe('workflow\n  wait-1  waits for an answer: a [31m b\n')
  })

  test('seconds as people say them', () => {
    expect([0, 0.5, 1, 90, 3600, 90_061.25].map(formatDuration)).toEqual([
      '0s',
      '0.5s',
      '1s',
      '1m30s',
      '1h',
      '1d1h1m1.25s',
    ])
  })
})

describe('charts [9.workflow-graph]', () => {
  test('boxes, frames and their order', () => {
    expect(toMermaid(workflow)).toBe(`flowchart TD
  n1(["nightly"])
  n2["scan: ./tool scan --root $#123;#123; input.root #125;#125;"]
  n1 --> n2
  n3{{"choose: strategy?"}}
  n2 -->|"when input.root == #34;src#34;"| n3
  subgraph n4["shards: 4 at the same time"]
    n5["0: part 1"]
    n6["two: part"]
  end
  n3 --> n4
  subgraph n7["files: each file, 2 at the same time"]
    n8["copy: copy $#123;#123; file #125;#125; $#123;#123; input.root #125;#125;"]
    n9["drop: drop $#123;#123; file #125;#125;"]
    n8 -.->|"undo"| n9
  end
  n4 --> n7
  n10(["wait-5: wait 1h30m"])
  n7 --> n10
  n11(["wait-6: until 2030-01-31T08:00:00Z"])
  n10 --> n11
  n12(["wait-7: Go on?"])
  n11 --> n12
  subgraph n13["sub: workflow inner"]
    n14["deep: x $#123;#123; input.root #125;#125;"]
    n15["tool-1: y"]
    n14 --> n15
  end
  n12 --> n13
  subgraph n16["finally"]
    n17["clean: clean"]
  end
  n13 --> n16
  n18(["done"])
  n16 --> n18
`)
  })

  test('whatever a text holds, it stays one label in quotes', () => {
    const line =
      /^ +(?:end|subgraph n\d+\["[^"<>`{}[\]\\%]+"\]|n\d+(?:\["[^"<>`{}[\]\\%]+"\]|\(\["[^"<>`{}[\]\\%]+"\]\)|\{\{"[^"<>`{}[\]\\%]+"\}\})|n\d+ (?:-->|-\.->)(?:\|"[^"<>`{}[\]\\%]+"\|)? n\d+)$/
    const pieces = fc
      .array(
        fc.constantFrom(
          'end',
          '"',
          '[',
          ']',
          '{',
          '}',
          '#',
          ';',
          '%%{init}%%',
          '<b>',
          '`',
          '|',
          '\\',
          '-->',
          '\n',
          '\u2028',
          '&',
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(pieces, fc.string({ unit: 'binary', minLength: 1 })), (text) => {
        const hostile = normalizeWorkflow({
          name: 'end',
          steps: [
            { name: 'end', wait: { answer: `x${text.replaceAll('${{', '')}` } },
            {
              name: 'subgraph',
              decision_type: `${text.replaceAll('${{', '')}y`,
              compensate: { tasks: [] },
            },
            { tasks: [{ name: 'click', wait: 1 }] },
          ],
        })
        const [head, ...lines] = toMermaid(hostile).trimEnd().split('\n')
        expect(head).toBe('flowchart TD')
        expect(lines.filter((one) => !line.test(one))).toEqual([])
        expect(lines.filter((one) => one.trim() === 'end')).toHaveLength(1)
      }),
    )
  })
})
