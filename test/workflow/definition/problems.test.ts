import { describe, expect, test } from 'vitest'
import { normalizeWorkflow } from '../../../src/workflow/definition/parse-workflow.ts'
import { parseWorkflowText } from '../../../src/workflow/definition/load.ts'
import { problemsIn, problemsOf } from './support.ts'

const inSteps = (...steps: readonly string[]): string =>
  `steps:\n${steps.map((step) => `  - ${step}\n`).join('')}`

describe('what is wrong is told with file, line and path [9.definition-problems]', () => {
  test.each<readonly [yaml: string, ...lines: string[]]>([
    ['7', 'flow.yaml:1: a workflow must be an object'],
    ['name: x', "flow.yaml:1: a workflow needs 'steps'"],
    ['steps: []', "flow.yaml:1: steps: 'steps' needs at least one step"],
    ['\nsteps: x', 'flow.yaml:2: steps: \'steps\' must be a list of steps; got "x"'],
    [
      'nam: a\nstep: []\nsteps: [x]',
      "flow.yaml:1: nam: unknown key 'nam' in a workflow; did you mean 'name'?",
      "flow.yaml:2: step: unknown key 'step' in a workflow",
    ],
    [
      'name: a b\nversion: 1\nsteps: [x]',
      'flow.yaml:1: name: a name has 1 to 64',
      "flow.yaml:2: version: 'version' must be a text; got 1",
    ],
    [
      inSteps('3', 'null', "''"),
      'flow.yaml:2: steps[0]: a step must be an object',
      'flow.yaml:3: steps[1]: a step must be',
      'flow.yaml:4: steps[2]: the command "" names no tool',
    ],
    [
      inSteps('{type: tol}', '{type: 3}', '{type: wait}', '{name: x}'),
      "flow.yaml:2: steps[0].type: there is no step kind 'tol'; did you mean 'tool'?",
      "flow.yaml:3: steps[1].type: 'type' must be",
      "flow.yaml:4: steps[2]: a step of the kind wait needs one of 'wait', 'for', 'until', 'answer'",
      "flow.yaml:5: steps[3]: a step needs one of 'command', 'tool'",
    ],
    [
      inSteps('{comand: x}', '{command: x, maxConcurrency: 3}', '{tasks: [x], max-concurrency: 3}'),
      "flow.yaml:2: steps[0].comand: unknown key 'comand' in a step; did you mean 'command'?",
      "flow.yaml:3: steps[1].maxConcurrency: unknown key 'maxConcurrency' in a step with 'command'",
      "flow.yaml:4: steps[2].max-concurrency: unknown key 'max-concurrency' in a step with 'tasks'; did you mean 'max_concurrency'?",
    ],
    [
      inSteps('{command: x, tool: y}', '{type: tool, wait: 3}'),
      "flow.yaml:2: steps[0].tool: a step has either 'command' or 'tool'",
      "flow.yaml:3: steps[1]: a step of the kind tool needs one of 'command', 'tool'",
      'flow.yaml:3: steps[1].wait: unknown key',
    ],
    [
      inSteps('{name: a, command: x}', '{name: p, tasks: [{name: a, command: x}]}'),
      "flow.yaml:3: steps[1].tasks[0].name: the name 'a' is there twice: the first is steps[0]",
    ],
    [
      inSteps(
        "{name: 'a b', command: x}",
        '{name: __proto__, command: x}',
        '{name: finally, command: x}',
        `{name: ${'x'.repeat(65)}, command: x}`,
      ),
      'flow.yaml:2: steps[0].name: a name has',
      'flow.yaml:3: steps[1].name',
      'flow.yaml:4: steps[2].name',
      'flow.yaml:5: steps[3].name',
    ],
    [
      inSteps(
        '{tool: "x y"}',
        '{tool: x, input: [1]}',
        "{tool: '${{ input.t }}'}",
        '{command: "${{ input.t }} x"}',
      ),
      "flow.yaml:2: steps[0].tool: 'tool' must be the name",
      'flow.yaml:3: steps[1].input',
      'flow.yaml:4: steps[2].tool',
      'flow.yaml:5: steps[3].command: the tool of a command cannot be an expression',
    ],
    [
      inSteps(
        '{command: "x \'y"}',
        '{command: "x ${{ input. }}"}',
        '{command: x, when: "1 =="}',
        '{command: x, when: [1]}',
      ),
      'flow.yaml:2: steps[0].command: the command "x \'y" has a \' that is not closed',
      'flow.yaml:3: steps[1].command: the expression',
      'flow.yaml:4: steps[2].when: the expression "1 ==" cannot be read: at character 5',
      "flow.yaml:5: steps[3].when: 'when' must be an expression; got a list",
    ],
    [
      inSteps(
        '{command: x, retry: -1}',
        '{command: x, retry: {max: 2, delays: 3, factor: 0, on: [3]}}',
        '{command: x, timeout: soon, on_error: ignore}',
        '{command: x, timeout: 0}',
      ),
      "flow.yaml:2: steps[0].retry: 'retry' must be a whole number from 0",
      "flow.yaml:3: steps[1].retry.delays: unknown key 'delays' in 'retry'; did you mean 'delay'?",
      'flow.yaml:3: steps[1].retry.on[0]: 3 is no code',
      "flow.yaml:3: steps[1].retry.factor: 'factor' must be",
      "flow.yaml:4: steps[2].on_error: 'on_error' is stop or continue",
      "flow.yaml:4: steps[2].timeout: 'timeout' must be a duration above 0",
      'flow.yaml:5: steps[3].timeout',
    ],
    [
      inSteps(
        '{wait: soon}',
        '{wait: {for: 1, until: x}}',
        '{wait: {until: 2030-01-31}}',
        '{wait: {answer: 3}}',
        '{wait: -1}',
        "{wait: '99999d'}",
      ),
      "flow.yaml:2: steps[0].wait: 'wait' must be a duration",
      "flow.yaml:3: steps[1].wait: 'wait' needs one of",
      "flow.yaml:4: steps[2].wait.until: 'until' must be a date and time with its zone",
      "flow.yaml:5: steps[3].wait.answer: 'answer' must be a question",
      'flow.yaml:6: steps[4].wait',
      'flow.yaml:7: steps[5].wait',
    ],
    [
      inSteps(
        '{each: {items: 3, do: [x]}}',
        '{each: {item: [1], do: [x]}}',
        '{each: {items: [1], as: steps, do: [x]}}',
        '{each: {items: [1], do: []}}',
        '{each: [1]}',
        '{tasks: [x], max_concurrency: 0}',
      ),
      "flow.yaml:2: steps[0].each.items: 'items' must be a list",
      "flow.yaml:3: steps[1].each.item: unknown key 'item' in 'each'; did you mean 'items'?",
      "flow.yaml:3: steps[1].each: 'each' needs 'items'",
      "flow.yaml:4: steps[2].each.as: 'as' must be a name",
      "flow.yaml:5: steps[3].each.do: 'do' needs at least one step",
      "flow.yaml:6: steps[4].each: 'each' must be an object",
      "flow.yaml:7: steps[5].max_concurrency: 'max_concurrency' must be a whole number from 1",
    ],
    [
      inSteps(
        '{decision_type: 3}',
        '{decision_type: x, options: [3, {label: y}]}',
        '{command: x, permissions: {network: some}}',
        '{command: x, permissions: {filesystm: none}}',
      ),
      "flow.yaml:2: steps[0].decision_type: 'decision_type' must be a text",
      'flow.yaml:3: steps[1].options[0]: an option must be',
      "flow.yaml:3: steps[1].options[1].value: 'value' of an option must be a text; got nothing",
      "flow.yaml:4: steps[2].permissions.network: 'network' is one of none, full",
      "flow.yaml:5: steps[3].permissions.filesystm: unknown key 'filesystm'",
    ],
    [
      inSteps(
        '{decision_type: x, options: [a, b], default: z}',
        '{wait: {answer: {prompt: x, schema: {type: integer}, default: abc}}}',
        '{type: wait, answer: {prompt: x, schema: {type: object, properties: {a: {type: integer}}, required: [a]}, default: {}}}',
        "{decision_type: y, options: [a, '${{ input.b }}'], default: z}",
        '{decision_type: z, options: [a], default: a}',
      ),
      'flow.yaml:2: steps[0].default: the default of the question must be one of a, b',
      'flow.yaml:3: steps[1].wait.answer.default: the default of the question must be a whole number',
      'flow.yaml:4: steps[2].answer.default: the default of the question does not fit: a is required',
    ],
    [
      'input: {a: strin, b: 3}\nsteps: [x]',
      "flow.yaml:1: input.a: there is no type 'strin'; did you mean 'string'?",
      'flow.yaml:1: input.b: a field of the input must be',
    ],
    [
      'input: {type: object, properties: {a: {type: strange}}}\nsteps: [x]',
      'flow.yaml:1: input: the schema cannot be used',
    ],
    [
      inSteps('{workflow: ./other.yaml}', '{workflow: {step: [x]}}', '{workflow: 3}'),
      'flow.yaml:2: steps[0].workflow: a file can be named only where files are read',
      "flow.yaml:3: steps[1].workflow.step: unknown key 'step' in a workflow; did you mean 'steps'?",
      "flow.yaml:3: steps[1].workflow: a workflow needs 'steps'",
      'flow.yaml:4: steps[2].workflow: a workflow must be an object',
    ],
  ])('%s', async (yaml, ...lines) => {
    const found = await problemsIn(yaml)
    expect(
      found
        .map((line, index) =>
          lines[index] !== undefined && line.startsWith(lines[index]) ? lines[index] : line,
        )
        .sort(),
    ).toEqual([...lines].sort())
  })

  test('twenty at once, and the rest is counted', async () => {
    const lines = await problemsIn(inSteps(...Array.from({ length: 25 }, () => '{type: tol}')))
    expect([lines.length, lines[20]]).toEqual([21, 'and 5 more'])
  })

  test('JSON has lines too, and data has paths', async () => {
    expect(
      await problemsIn(
        '{\n "steps": [\n  {"tol": "x"},\n  {"tool": "x",\n   "retry": "a"}]}',
        'a.json',
      ),
    ).toEqual([
      expect.stringMatching(/^a\.json:3: steps\[0\]\.tol: /),
      expect.stringMatching(/^a\.json:5: steps\[1\]\.retry: /),
    ])
    expect(await problemsIn('{"steps": [', 'a.json')).toEqual([
      expect.stringContaining('a.json is not JSON (line 1, column 12)'),
    ])
    expect(await problemsIn('steps: [x]\nsteps: [y]')).toEqual([
      expect.stringContaining("flow.yaml, line 2: has the key 'steps' twice"),
    ])
    expect(() => normalizeWorkflow({ steps: [{ tol: 'x' }] })).toThrow(
      /^steps\[0\]\.tol: unknown key/,
    )
  })

  test('programs get them as a list', async () => {
    const error: unknown = await parseWorkflowText('flow.yaml', inSteps('{type: tol}')).catch(
      (thrown: unknown) => thrown,
    )
    expect(problemsOf(error)).toEqual([
      {
        file: 'flow.yaml',
        line: 2,
        column: 6,
        path: 'steps[0].type',
        message: "there is no step kind 'tol'; did you mean 'tool'?",
        fix: expect.stringContaining('tool, ai_decision'),
      },
    ])
  })
})

describe('references lead only to what is there already [9.references]', () => {
  const use = (what: string): string => `command: "x \${{ ${what} }}"`
  test.each<readonly [title: string, yaml: string, ...lines: string[]]>([
    [
      'later',
      inSteps(`{name: a, ${use('steps.b.result')}}`, '{name: b, command: x}'),
      "flow.yaml:2: steps[0].command: the step 'b' comes later",
    ],
    [
      'itself',
      inSteps(`{name: a, ${use('steps.a.result')}}`),
      "flow.yaml:2: steps[0].command: the step 'a' uses itself",
    ],
    [
      'in a circle',
      inSteps(
        `{name: a, ${use('steps.c.result')}}`,
        `{name: b, ${use('steps.a.result')}}`,
        `{name: c, ${use('steps.b.result')}}`,
      ),
      "flow.yaml:2: steps[0].command: the steps 'a' → 'c' → 'b' → 'a' wait for each other",
    ],
    [
      'unknown',
      inSteps('{name: scan, command: x}', `{name: b, ${use('steps.scna.result')}}`),
      "flow.yaml:3: steps[1].command: there is no step 'scna'; did you mean 'scan'?",
    ],
    [
      'beside in a parallel',
      inSteps(`{name: p, tasks: [{name: a, command: x}, {name: b, ${use('steps.a.result')}}]}`),
      "flow.yaml:2: steps[0].tasks[1].command: the step 'a' is taken at the same time or later",
    ],
    [
      'inside another',
      inSteps('{name: p, tasks: [{name: a, command: x}]}', `{name: b, ${use('steps.a.result')}}`),
      "flow.yaml:3: steps[1].command: the step 'a' is inside 'p' and cannot be seen from outside",
    ],
    [
      'inside itself',
      inSteps('{name: p, when: steps.a.result, tasks: [{name: a, command: x}]}'),
      "flow.yaml:2: steps[0].when: the step 'a' is inside 'p', which has not been taken yet",
    ],
    [
      'a field of a step',
      inSteps('{name: a, command: x}', `{name: b, ${use('steps.a.reslt')}}`),
      "flow.yaml:3: steps[1].command: 'steps.a' has no 'reslt'; did you mean 'result'?",
    ],
    [
      'a field of the workflow',
      inSteps(`{name: b, ${use('workflow.ide')}}`),
      "flow.yaml:2: steps[0].command: 'workflow' has no 'ide'",
    ],
    [
      'a field of the input',
      `input: {root: string}\n${inSteps(`{name: b, ${use('input.rot')}}`)}`,
      "flow.yaml:3: steps[0].command: there is no field of the input 'rot'; did you mean 'root'?",
    ],
    [
      'a name',
      inSteps(
        '{name: scan, command: x}',
        `{name: b, ${use('scan.result')}}`,
        `{name: c, ${use('inptu.x')}}`,
        `{name: d, ${use('file')}}`,
      ),
      "flow.yaml:3: steps[1].command: nothing is called 'scan' here; did you mean 'steps.scan'?",
      "flow.yaml:4: steps[2].command: nothing is called 'inptu' here; did you mean 'input'?",
      "flow.yaml:5: steps[3].command: nothing is called 'file' here",
    ],
    [
      'an item outside its each',
      inSteps(
        `{name: e, each: {items: [1], as: file, do: [{${use('file')}}]}}`,
        `{name: b, ${use('file')}}`,
      ),
      "flow.yaml:3: steps[1].command: nothing is called 'file' here",
    ],
    [
      'an item twice',
      inSteps('{name: e, each: {items: [1], as: f, do: [{each: {items: [2], as: f, do: [x]}}]}}'),
      "flow.yaml:2: steps[0].each.do[0]: 'f' is already the name of an item",
    ],
    [
      'from a nested workflow to the outside',
      inSteps('{name: a, command: x}', `{workflow: {steps: [{${use('steps.a.result')}}]}}`),
      "flow.yaml:3: steps[1].workflow.steps[0].command: there is no step 'a'",
    ],
    [
      'finally from a step',
      `${inSteps(`{name: a, ${use('steps.c.result')}}`)}finally: [{name: c, command: x}]`,
      "flow.yaml:2: steps[0].command: the step 'c' comes later",
    ],
    [
      'finally from the output',
      `${inSteps('{name: a, command: x}')}finally: [{name: c, command: x}]\noutput: "\${{ steps.c.result }}"`,
      "flow.yaml:4: output: the step 'c' comes later",
    ],
    [
      'in the items',
      inSteps(
        '{name: e, each: {items: "${{ steps.e2.result }}", do: [x]}}',
        '{name: e2, command: x}',
      ),
      "flow.yaml:2: steps[0].each.items: the step 'e2' comes later",
    ],
  ])('%s', async (_title, yaml, ...lines) => {
    const found = await problemsIn(yaml)
    expect(
      found.map((line, index) =>
        lines[index] !== undefined && line.startsWith(lines[index]) ? lines[index] : line,
      ),
    ).toEqual(lines)
  })

  test.each([
    [
      'steps before, also from inside and from the end',
      `input: {a: string}\n${inSteps('{name: a, command: "x ${{ input.a }}"}', '{name: p, tasks: [{tasks: ["x ${{ steps.a.result }}"]}, "y ${{ steps.a.status }}"]}', '{name: e, each: {items: "${{ steps.p.result }}", as: f, do: [{name: i, command: "x ${{ f }} ${{ f_index }}"}, "y ${{ steps.i.result }} ${{ steps.a.error.code }}"]}}')}finally: [{name: z, command: "x \${{ steps.e.result }}"}, "y \${{ steps.z.result }}"]\noutput: "\${{ steps.e.errors }}"`,
    ],
    [
      'a compensation knows its step',
      inSteps(
        '{name: a, command: x, compensate: ["undo ${{ steps.a.result.id }}", "log ${{ steps.tool-1.result }}"]}',
      ),
    ],
    [
      'fields of an open input',
      `input: {type: object, properties: {a: {}}, additionalProperties: true}\n${inSteps('"x ${{ input.b }}"')}`,
    ],
    ['an input that says nothing', inSteps('"x ${{ input.b.c }}"')],
    [
      'whole records',
      inSteps(
        '{name: a, command: x}',
        '{tool: x, input: {all: "${{ steps }}", one: "${{ steps.a }}", given: "${{ input }}"}}',
      ),
    ],
  ])('good: %s', async (_title, yaml) => {
    expect(await problemsIn(yaml)).toEqual([])
  })
})
