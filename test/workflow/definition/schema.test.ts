import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { normalizeWorkflow } from '../../../src/workflow/definition/parse-workflow.ts'
import { createWorkflowSchema } from '../../../src/workflow/steps/table.ts'

const FILE = '../../../schemas/toolable.workflow.schema.json'
const schema = createWorkflowSchema()

// `npx vitest run test/workflow/definition/schema.test.ts -u` writes the file anew.
test('the published schema of a workflow is that of its reader [9.definition-schema]', async () => {
  await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(FILE)
})

describe('the published schema of a workflow and its reader agree [9.definition-schema]', () => {
  const accepts = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
  }).compile(schema)
  const judge = (workflow: unknown): readonly boolean[] => [reads(workflow), accepts(workflow)]

  test.each([
    [{ steps: ['x'] }],
    [
      {
        $schema: 'x',
        name: 'a-b_C',
        version: '1',
        summary: 's',
        description: 'd',
        input: { a: 'string' },
        steps: ['x'],
        finally: [],
        output: null,
        timeout: '10m',
      },
    ],
    [
      {
        steps: [
          {
            type: 'tool',
            name: 'a',
            command: 'x',
            when: true,
            retry: 3,
            timeout: 5,
            on_error: 'continue',
            compensate: ['y', { tool: 'z' }],
          },
        ],
      },
    ],
    [
      {
        steps: [
          {
            tool: 'x',
            input: { a: [1] },
            permissions: { network: 'none' },
            retry: { max: 0, delay: 0, factor: 1.5, longest: '1m', on: ['TIMEOUT'] },
          },
        ],
      },
    ],
    [
      {
        steps: [
          {
            decision_type: 'x',
            instruction: 'y',
            options: ['a', { value: 'b' }],
            schema: {},
            default: null,
            context: {},
          },
          { type: 'parallel', tasks: [], max_concurrency: 1 },
        ],
      },
    ],
    [
      {
        steps: [
          { each: { items: [1], as: 'f', do: ['x'] }, max_concurrency: 2 },
          { items: '${{ input.x }}', do: ['x'] },
        ],
      },
    ],
    [
      {
        steps: [
          { wait: 1 },
          { wait: '1h' },
          { wait: { for: 1 } },
          { wait: { answer: { prompt: 'x', default: 1 } } },
          { type: 'wait', until: '2030-01-31T08:00:00Z' },
          { type: 'wait', answer: 'x' },
        ],
      },
    ],
    [
      {
        steps: [
          { workflow: { steps: ['x'] }, input: 1 },
          { type: 'workflow', workflow: { name: 'b', steps: [{ tasks: ['y'] }] } },
        ],
      },
    ],
  ])('on good ones: %j', (workflow) => {
    expect(judge(workflow)).toEqual([true, true])
  })

  test.each([
    [{}],
    [[]],
    [{ steps: [] }],
    [{ steps: 'x' }],
    [{ steps: ['x'], step: 1 }],
    [{ name: 'a b', steps: ['x'] }],
    [{ name: '', steps: ['x'] }],
    [{ summary: 'x'.repeat(201), steps: ['x'] }],
    [{ input: [], steps: ['x'] }],
    [{ timeout: [], steps: ['x'] }],
    [{ version: 1, steps: ['x'] }],
    [{ finally: 'x', steps: ['x'] }],
    [{ steps: [3] }],
    [{ steps: [''] }],
    [{ steps: [{}] }],
    [{ steps: [{ type: 'tol', command: 'x' }] }],
    [{ steps: [{ type: 'wait', command: 'x' }] }],
    [{ steps: [{ command: 'x', tool: 'y' }] }],
    [{ steps: [{ for: 3 }] }],
    [{ steps: [{ command: 3 }] }],
    [{ steps: [{ tool: 'x', input: [] }] }],
    [{ steps: [{ command: 'x', name: 'a b' }] }],
    [{ steps: [{ command: 'x', name: 'finally' }] }],
    [{ steps: [{ command: 'x', when: 3 }] }],
    [{ steps: [{ command: 'x', retry: -1 }] }],
    [{ steps: [{ command: 'x', retry: 1.5 }] }],
    [{ steps: [{ command: 'x', retry: { maxx: 1 } }] }],
    [{ steps: [{ command: 'x', retry: { factor: 0 } }] }],
    [{ steps: [{ command: 'x', on_error: 'ignore' }] }],
    [{ steps: [{ command: 'x', timeout: true }] }],
    [{ steps: [{ command: 'x', compensate: [3] }] }],
    [{ steps: [{ command: 'x', tasks: ['y'] }] }],
    [{ steps: [{ decision_type: '' }] }],
    [{ steps: [{ decision_type: 'x', options: [{ label: 'y' }] }] }],
    [{ steps: [{ decision_type: 'x', options: 'a' }] }],
    [{ steps: [{ decision_type: 'x', context: [] }] }],
    [{ steps: [{ tasks: 'x' }] }],
    [{ steps: [{ tasks: ['x'], max_concurrency: 0 }] }],
    [{ steps: [{ each: { items: 3, do: ['x'] } }] }],
    [{ steps: [{ each: { items: [1], do: [] } }] }],
    [{ steps: [{ each: { items: [1], as: 'input', do: ['x'] } }] }],
    [{ steps: [{ each: { items: [1] } }] }],
    [{ steps: [{ items: [1] }] }],
    [{ steps: [{ wait: -1 }] }],
    [{ steps: [{ wait: {} }] }],
    [{ steps: [{ wait: { for: 1, until: 'x' } }] }],
    [{ steps: [{ wait: { answer: {} } }] }],
    [{ steps: [{ wait: { answer: { prompt: 'x', promt: 'y' } } }] }],
    [{ steps: [{ workflow: 3 }] }],
    [{ steps: [{ workflow: { steps: [{}] } }] }],
    [{ steps: [{ command: 'x', permissions: 'none' }] }],
  ])('on bad ones: %j', (workflow) => {
    expect(judge(workflow)).toEqual([false, false])
  })
})

function reads(workflow: unknown): boolean {
  try {
    normalizeWorkflow(workflow)
    return true
  } catch {
    return false
  }
}
