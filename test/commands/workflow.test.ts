import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderWith, project, toolable } from './support.ts'
import '../support/without-coverage.ts'

const TOOL = `import { tool } from 'toolable'
export const scan = tool({ name: 'scan', summary: 'Scan', input: { type: 'object', properties: { root: { type: 'string' }, limit: { type: 'integer' } }, required: ['root'] }, run: () => [] })
`
const files = {
  'toolable.yaml': 'modules: [tools.mjs]\n',
  'tools.mjs': TOOL.replace("'toolable'", `'${join(project, '../../../../dist/index.js')}'`),
  'workflows/nightly.yaml':
    'summary: Every night\ninput: {root: string}\nsteps:\n  - {name: scan, tool: scan, input: {root: "${{ input.root }}"}}\n  - ./tool scan --root x\n',
  'workflows/bad.yaml':
    'steps:\n  - {tool: scna}\n  - {tool: scan, input: {rot: "${{ input.x }}"}}\n  - {tool: scan, input: {root: 3}}\n  - {name: p, tasks: ["gone --x"]}\n  - workflow: ./part.json\n',
  'workflows/part.json': '{"steps": [{"tool": "scan"}]}',
  'outer.yaml': `steps:
  - {name: first, tool: scan, input: {root: x}}
  - {name: misspelt, workflow: ./sub/inner.yaml, input: {x: 5, typo: 1}}
  - {name: missing, workflow: ./sub/inner.yaml}
  - {name: open, workflow: ./sub/inner.yaml, input: {x: "\${{ steps.first.result }}", y: many, z: 1}}
  - {name: unsaid, workflow: ./sub/inner.yaml, input: {y: "\${{ steps.first.result }}"}}
  - {name: whole, workflow: ./sub/inner.yaml, input: "\${{ steps.first.result }}"}
  - {name: fits, workflow: ./sub/inner.yaml, input: {x: "5"}}
  - {name: tool, tool: scan, input: {root: "\${{ steps.first.result }}", limit: many}}
`,
  'sub/inner.yaml':
    'input: {x: string, y: {type: integer, default: 7}}\nsteps:\n  - {tool: scan, input: {root: "${{ input.x }}"}}\n',
  'wrong.yaml': 'steps: [{tol: x}, {type: tol}]\n',
}

describe('toolable workflow validate', () => {
  const cwd = folderWith(files)
  const validate = (...args: string[]) => toolable(['workflow', 'validate', ...args], { cwd })

  test('a good one is told in short, by its name or its file [9.workflow-validate] [9.workflow-names]', async () => {
    const { status, json } = await validate('nightly')
    expect([status, json.result]).toEqual([
      0,
      {
        file: 'workflows/nightly.yaml',
        name: 'nightly',
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        steps: 2,
        tools: ['scan'],
        tools_checked: true,
      },
    ])
    expect((await validate('workflows/nightly.yaml', '-o', 'text')).stdout).toBe(
      'ok: nightly in workflows/nightly.yaml: 2 steps, one tool (scan)\n',
    )
    const inside = await toolable(['workflow', 'validate', 'nightly', '-o', 'text'], {
      cwd: join(cwd, 'workflows'),
    })
    expect(inside.stdout).toBe('ok: nightly in nightly.yaml: 2 steps, one tool (scan)\n')
  })

  test('unknown tools and inputs that cannot fit are found, with their lines, also in other files [9.workflow-validate]', async () => {
    const { status, json } = await validate('bad')
    expect(status).toBe(78)
    expect(json.error.message.split('\n')).toEqual([
      "workflows/bad.yaml:2: steps[0].tool: there is no tool 'scna'; did you mean 'scan'?",
      "workflows/bad.yaml:3: steps[1].input.rot: 'scan' has no field 'rot'; did you mean 'root'?",
      "workflows/bad.yaml:3: steps[1].input: 'scan' needs 'root'",
      expect.stringMatching(
        /^workflows\/bad\.yaml:4: steps\[2\]\.input\.root: root must be text, got 3/,
      ),
      "workflows/bad.yaml:5: steps[3].tasks[0]: there is no tool 'gone'",
      expect.stringMatching(/^workflows\/part\.json:1: steps\[0\]\.input\.root: root is required/),
    ])
    expect(json.error.details.problems).toHaveLength(6)
    expect((await validate('bad', '--no-tools')).status).toBe(0)
  })

  test('inputs that cannot fit a nested workflow are told before anything begins, what comes from expressions left open [9.workflow-validate]', async () => {
    const lines = [
      "outer.yaml:3: steps[1].input.typo: unknown key 'typo'; known keys are x, y",
      'outer.yaml:3: steps[1].input.x: x must be text, got 5',
      'outer.yaml:4: steps[2].input.x: x is required',
      "outer.yaml:5: steps[3].input.z: 'inner' has no field 'z'",
      'outer.yaml:5: steps[3].input.y: y must be a whole number, got "many"',
      "outer.yaml:6: steps[4].input: 'inner' needs 'x'",
    ]
    for (const args of [
      ['validate', 'outer.yaml'],
      ['validate', 'outer.yaml', '--no-tools'],
      ['run', 'outer.yaml'],
    ]) {
      const { status, stderr } = await toolable(['workflow', ...args, '-o', 'text'], { cwd })
      expect([status, stderr.replace(/^error: | \(CONFIG\)\n[^]*$/g, '').split('\n')]).toEqual([
        78,
        lines,
      ])
    }
    const mended = folderWith({
      ...files,
      'outer.yaml': files['outer.yaml'].replace(
        /  - \{name: (?:misspelt|missing|open|unsaid).*\n/g,
        '',
      ),
    })
    const { json } = await toolable(['workflow', 'validate', 'outer.yaml'], { cwd: mended })
    expect(json.error.message).toBe(
      'outer.yaml:5: steps[3].input.limit: limit must be a whole number, got "many"',
    )
  })

  test('problems of the definition are told without looking at tools; people see each once [9.workflow-validate]', async () => {
    const { status, stderr } = await validate('wrong.yaml', '-o', 'text')
    expect(status).toBe(78)
    expect(stderr).toBe(
      "error: wrong.yaml:1: steps[0].tol: unknown key 'tol' in a step; did you mean 'tool'?\nwrong.yaml:1: steps[1].type: there is no step kind 'tol'; did you mean 'tool'? (CONFIG)\nfix: Correct these lines; docs/workflow-definition.md has every key\n",
    )
  })

  test('what is not there [9.workflow-names]', async () => {
    const unknown = await validate('nihgtly')
    expect([unknown.status, unknown.json.error.message]).toEqual([
      66,
      "there is no workflow 'nihgtly'; did you mean 'nightly'?",
    ])
    const gone = await validate('gone.yaml')
    expect([gone.status, gone.json.error.code]).toEqual([66, 'INVALID_PATH'])
    const strange = await toolable(['workflow', 'validate', 'large.yaml'], {
      cwd: folderWith({ 'large.yaml': `steps:\n${'  - scan --root x\n'.repeat(20_000)}` }),
    })
    expect([strange.status, strange.json.error.message, strange.json.error.suggestion.fix]).toEqual(
      [
        66,
        expect.stringContaining('bytes; a definition may have 262144'),
        expect.stringContaining('Make several workflows of it'),
      ],
    )
    const nowhere = await toolable(['workflow', 'validate', 'x'], { cwd: folderWith({}) })
    expect([nowhere.status, nowhere.json.error.suggestion.fix]).toEqual([
      66,
      'Give a file, or put x.yaml into the folder workflows',
    ])
  })
})

describe('code that fails while it writes a workflow', () => {
  const head = `import { workflow } from '${join(project, '../../../../dist/index.js')}'\n`
  const write =
    "export default workflow({ name: 'thr' }, (w) => {\n  const a = w.tool('a', 'scan', { root: 'x' })\n  w.tool('b', 'scan', { root: reach(a) })\n})\n"
  const message =
    "the workflow 'thr' cannot be written: TypeError: Cannot read properties of undefined (reading 'foo')"
  const cwd = folderWith({
    'toolable.yaml': 'workflows: [./thr.mjs]\n',
    'reach.mjs': 'export const reach = (a) => a.nope.foo\n',
    'thr.mjs': `${head}import { reach } from './reach.mjs'\n${write}`,
    'with space/typed.ts': `${head}type Any = {\n  readonly nope?: any\n}\nconst reach = (a: object): string => (a as Any).nope.foo\n${write}`,
    'refused.mjs': `${head}export default workflow({ name: 'refused' }, (w) => {\n  w.tool(undefined, 'scan')\n})\n`,
  })

  test('is told with its line, by every command [9.definition-code]', async () => {
    for (const command of ['validate', 'run', 'plan', 'graph']) {
      const { status, stderr } = await toolable(['workflow', command, 'thr.mjs', '-o', 'text'], {
        cwd,
      })
      expect([command, status, stderr]).toEqual([
        command,
        78,
        `error: thr.mjs:5: ${message} (CONFIG)\nfix: Look at thr.mjs:5\n`,
      ])
    }
    const { json } = await toolable(['list', '--problems'], { cwd })
    expect(json.result.problems).toMatchObject([
      { location: 'thr.mjs:5', message, fix: 'Look at thr.mjs:5' },
    ])
  })

  test('also in TypeScript, and where the builder refuses it [9.definition-code]', async () => {
    const typed = await toolable(['workflow', 'validate', 'with space/typed.ts'], { cwd })
    expect([typed.status, typed.json.error.message]).toEqual([
      78,
      `with space/typed.ts:5: ${message}`,
    ])
    const refused = await toolable(['workflow', 'validate', 'refused.mjs'], { cwd })
    expect([refused.status, refused.json.error.message]).toEqual([
      78,
      "refused.mjs:3: the workflow 'refused' cannot be written: a step of the steps of workflow 'refused' has no name",
    ])
  })
})

describe('toolable workflow plan and graph', () => {
  const cwd = folderWith(files)

  test('the plan, for people and programs [9.workflow-plan]', async () => {
    const text = await toolable(
      ['workflow', 'plan', 'nightly', '--input', '{"root":"src"}', '-o', 'text'],
      { cwd },
    )
    expect(text.stdout).toBe(
      'nightly: Every night\n  scan  scan {"root":"src"}\n      needs input.root\n  tool-2  scan --root x\n',
    )
    const { json } = await toolable(['workflow', 'plan', 'nightly'], { cwd })
    expect(json.result.steps).toMatchObject([
      { key: 'scan', tool: 'scan' },
      { key: 'tool-2', command: './tool scan --root x' },
    ])
    const filled = await toolable(['workflow', 'plan', 'nightly', '--input', '{"root":"src"}'], {
      cwd,
    })
    expect([json.result.steps[0].input, filled.json.result.steps[0].input]).toEqual([
      { root: '${{ input.root }}' },
      { root: 'src' },
    ])
    const wrong = await toolable(['workflow', 'plan', 'nightly', '--input', '{"rot":"src"}'], {
      cwd,
    })
    expect([wrong.status, wrong.json.error.code]).toEqual([2, 'INVALID_INPUT'])
  })

  test('the chart [9.workflow-graph]', async () => {
    const { stdout, status } = await toolable(['workflow', 'graph', 'nightly', '-o', 'text'], {
      cwd,
    })
    expect([status, stdout]).toEqual([
      0,
      'flowchart TD\n  n1(["nightly"])\n  n2["scan: scan"]\n  n1 --> n2\n  n3["tool-2: ./tool scan --root x"]\n  n2 --> n3\n  n4(["done"])\n  n3 --> n4\n',
    ])
    expect((await toolable(['workflow', 'graph', 'nightly'], { cwd })).json.result).toEqual({
      name: 'nightly',
      mermaid: stdout,
    })
  })
})
