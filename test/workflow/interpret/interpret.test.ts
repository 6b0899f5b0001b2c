import { describe, expect, test } from 'vitest'
import type { WorkflowStep, Workflow } from '../../../src/workflow/definition/model.ts'
import { getQuestionId } from '../../../src/workflow/interpreter.ts'
import { getForwardedQuestionId } from '../../../src/workflow/step-host.ts'
import type {
  OperationOutcome,
  WorkflowEvent,
  WorkflowQuestion,
} from '../../../src/workflow/engine.ts'
import { failed, simulate } from './simulated-engine.ts'
import type { Simulation } from './simulated-engine.ts'

const tool = (name: string, rest: object = {}): WorkflowStep => ({
  type: 'tool',
  name,
  tool: name,
  ...rest,
})
const flow = (steps: readonly WorkflowStep[], rest: Partial<Workflow> = {}): Workflow => ({
  name: 'flow',
  steps,
  ...rest,
})
const ok = (value: unknown): OperationOutcome => ({ ok: true, value })

async function run(
  workflow: Workflow,
  { input = {}, ...rest }: Partial<Simulation> & { readonly input?: unknown } = {},
) {
  const record = {
    journal: [],
    launched: [] as string[],
    aborted: [] as string[],
    events: [] as WorkflowEvent[],
  }
  const settled = await simulate(workflow, input, { ...record, ...rest })
  return {
    settled,
    ...record,
    keys: (rest.journal ?? record.journal).map((entry) => ('key' in entry ? entry.key : 'CANCEL')),
  }
}

describe('steps', () => {
  test('[9.interpreter-order] are taken in order, with the results of those before them, and the last result is the output', async () => {
    const { settled, keys } = await run(
      flow([
        tool('scan', { input: { root: '${{ input.root }}' } }),
        tool('report', {
          input: { of: '${{ steps.scan.result.n }}', text: 'n = ${{ steps.scan.result.n }}' },
        }),
      ]),
      {
        input: { root: '/x' },
        tool: ({ tool: name, given }) => ok(name === 'scan' ? { n: 3, given } : given),
      },
    )
    expect(settled).toEqual(ok({ input: { of: 3, text: 'n = 3' } }))
    expect(keys).toEqual(['scan', 'report'])
  })

  test('[9.interpreter-when] that are not wanted are skipped, their result is null, and the last that was taken gives the output', async () => {
    const { settled, launched, events } = await run(
      flow(
        [
          tool('a'),
          tool('b', { when: '${{ input.b }}' }),
          { type: 'tool', name: 'c', tool: 'c', input: { b: '${{ steps.b.result.deep }}' } },
        ],
        { output: { c: '${{ steps.c.result.input.b }}', b: '${{ steps.b.status }}' } },
      ),
      { input: { b: false } },
    )
    expect(settled).toEqual(ok({ c: null, b: 'skipped' }))
    expect(launched).toEqual(['a', 'c'])
    expect(events).toContainEqual({ type: 'step_skipped', step: 'b' })
  })

  test('[9.interpreter-command] a command is split before values are put in', async () => {
    const { settled } = await run(
      flow([
        {
          type: 'tool',
          name: 'x',
          command: "./tool migrate --source ${{ input.dir }} --note 'two words'",
        },
      ]),
      { input: { dir: 'a b; rm -rf /' }, tool: ({ tool: name, given }) => ok([name, given]) },
    )
    expect(settled).toEqual(
      ok(['migrate', { args: ['--source', 'a b; rm -rf /', '--note', 'two words'] }]),
    )
  })

  test('[9.interpreter-errors] an expression that makes no sense fails its step, and names it', async () => {
    const { settled, launched } = await run(
      flow([tool('a'), tool('b', { input: { x: "${{ steps.a.result < 'x' }}" } })]),
      { tool: () => ok({}) },
    )
    expect(settled).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', details: { step: 'b' } },
    })
    expect(launched).toEqual(['a'])
  })
})

describe('failures', () => {
  test('[9.interpreter-retry] that may pass are tried again after longer and longer pauses, others are not', async () => {
    const { settled, keys } = await run(flow([tool('a')]), {
      tool: ({ attempt }) => (attempt < 4 ? failed('DEPENDENCY', true) : ok('there')),
    })
    expect(settled).toEqual(ok('there'))
    expect(keys).toEqual(['a', 'a#2~pause', 'a#2', 'a#3~pause', 'a#3', 'a#4~pause', 'a#4'])
    const never = await run(flow([tool('a')]), { tool: () => failed('PERMISSION') })
    expect(never.keys).toEqual(['a'])
    expect(never.settled).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', details: { step: 'a' } },
    })
  })

  test('[9.interpreter-retry] are tried again by code or class where the step says which, and so often as it says', async () => {
    const retry = { max: 1, delay: 0, factor: 2, longest: 60, on: ['infra_error'] }
    const tried = async (code: string) =>
      (await run(flow([tool('a', { retry })]), { tool: () => failed(code) })).keys
    expect(await tried('TIMEOUT')).toEqual(['a', 'a#2'])
    expect(await tried('DEPENDENCY')).toEqual(['a'])
    expect(
      (
        await run(flow([tool('a', { retry: { ...retry, max: 0, on: undefined } })]), {
          tool: () => failed('DEPENDENCY', true),
        })
      ).keys,
    ).toEqual(['a'])
  })

  test('[9.interpreter-retry] are all tried again where the step says how often, but those that cannot change', async () => {
    const retry = { max: 2, delay: 0, factor: 2, longest: 60 }
    const tried = async (code: string, step: WorkflowStep = tool('a', { retry })) =>
      (await run(flow([step]), { tool: () => failed(code) })).keys.length
    expect(
      await Promise.all(
        ['INTERNAL', 'TIMEOUT', 'NOT_FOUND', 'E_MY_OWN', 'DEPENDENCY'].map((code) => tried(code)),
      ),
    ).toEqual([3, 3, 3, 3, 3])
    expect(
      await Promise.all(
        ['INVALID_INPUT', 'USAGE', 'PERMISSION', 'CONFIRMATION_REQUIRED', 'CANCELLED', 'E1234'].map(
          (code) => tried(code),
        ),
      ),
    ).toEqual([1, 1, 1, 1, 1, 1])
    expect([
      await tried('INTERNAL', tool('a')),
      await tried('INTERNAL', {
        type: 'parallel',
        name: 'all',
        tasks: [tool('a')],
        max_concurrency: 1,
        retry,
      }),
    ]).toEqual([1, 3])
  })

  test('[9.interpreter-on-error] a step may fail and the workflow goes on', async () => {
    const { settled } = await run(
      flow([tool('a', { on_error: 'continue' }), tool('b')], {
        output: ['${{ steps.a.error.code }}', '${{ steps.a.result }}', '${{ steps.b.result }}'],
      }),
      { tool: ({ tool: name }) => (name === 'a' ? failed('NOT_FOUND') : ok('b')) },
    )
    expect(settled).toEqual(ok(['NOT_FOUND', null, 'b']))
  })

  test('[9.interpreter-compensation] what was done is taken back, the last first, then comes what is done in any case', async () => {
    const undo = (name: string) => ({ compensate: [tool(`undo-${name}`)] })
    const { settled, keys, events } = await run(
      flow([tool('a', undo('a')), tool('b', undo('b')), tool('c', undo('c'))], {
        finally: [tool('sweep')],
      }),
      {
        tool: ({ tool: name }) =>
          name === 'c' ? failed('PERMISSION') : name === 'undo-b' ? failed('NOT_FOUND') : ok(name),
      },
    )
    expect(keys).toEqual(['a', 'b', 'c', 'b~undo/undo-b', 'a~undo/undo-a', 'finally/sweep'])
    expect(settled).toMatchObject({
      ok: false,
      error: { code: 'PERMISSION', details: { step: 'c', cleanup: [{ code: 'NOT_FOUND' }] } },
    })
    expect(events).toContainEqual(expect.objectContaining({ type: 'compensating' }))
  })

  test('[9.interpreter-compensation] a compensation sees what its step gave, whatever others are called that were taken back before', async () => {
    const named = tool('tool-1', {
      compensate: [
        {
          type: 'tool',
          name: 'tool-1',
          tool: 'undo-first',
          input: { of: '${{ steps.tool-1.result }}' },
        },
      ],
    })
    const given: unknown[] = []
    await run(
      flow([
        named,
        tool('second', { compensate: [{ type: 'tool', name: 'tool-1', tool: 'undo-second' }] }),
        tool('fails'),
      ]),
      {
        tool: ({ tool: name, given: input }) => (
          given.push(input),
          name === 'fails' ? failed('NOT_FOUND') : ok(`of ${name}`)
        ),
      },
    )
    expect(given.at(-1)).toEqual({ input: { of: 'of tool-1' } })
  })

  test('[9.interpreter-finally] [9.interpreter-compensation] what is done after a failure sees the step that failed, with its error', async () => {
    const seen = (name: string): WorkflowStep => ({
      type: 'tool',
      name,
      tool: name,
      input: {
        of: [
          '${{ steps.a.status }}',
          '${{ steps.z.status }}',
          '${{ steps.z.error.message }}',
          '${{ steps.later.status }}',
        ],
      },
    })
    const workflow = flow([tool('a', { compensate: [seen('undo')] }), tool('z'), tool('later')], {
      finally: [seen('sweep'), tool('notify', { when: "steps.z.status == 'failed'" })],
    })
    const given: { [name: string]: unknown } = {}
    const { keys } = await run(workflow, {
      tool: ({ tool: name, given: input }) => (
        (given[name] = input),
        name === 'z' ? failed('NOT_FOUND') : ok(name)
      ),
    })
    expect(keys).toEqual(['a', 'z', 'a~undo/undo', 'finally/sweep', 'finally/notify'])
    expect([given['undo'], given['sweep']]).toEqual(
      [1, 2].map(() => ({ input: { of: ['ok', 'failed', expect.any(String), null] } })),
    )
  })

  test('[9.interpreter-finally] is done after a success too, and its failure is the failure of the workflow, which takes nothing back', async () => {
    const workflow = flow([tool('a', { compensate: [tool('undo')] })], { finally: [tool('sweep')] })
    expect((await run(workflow, { tool: ({ tool: name }) => ok(name) })).settled).toEqual(ok('a'))
    const worse = await run(workflow, {
      tool: ({ tool: name }) => (name === 'sweep' ? failed('PERMISSION') : ok(name)),
    })
    expect(worse.keys).toEqual(['a', 'finally/sweep'])
    expect(worse.settled).toMatchObject({ ok: false, error: { code: 'PERMISSION' } })
  })
})

describe('steps at the same time', () => {
  const tasks = (names: readonly string[], rest: object = {}): WorkflowStep => ({
    type: 'parallel',
    name: 'all',
    tasks: names.map((name) => tool(name)),
    max_concurrency: 2,
    ...rest,
  })

  test('[9.interpreter-parallel] are never more than allowed, and give their results in their own order', async () => {
    const launched: string[] = []
    let most = 0
    let over = 0
    const { settled } = await run(flow([tasks(['a', 'b', 'c', 'd', 'e'])]), {
      launched,
      pick: (count) => {
        most = Math.max(most, launched.length - over)
        over += 1
        return count - 1
      },
      tool: ({ tool: name }) => ok(name),
    })
    expect(settled).toEqual(ok(['a', 'b', 'c', 'd', 'e']))
    expect(most).toBe(2)
  })

  test('[9.interpreter-parallel] one failure stops the others, and what was not begun never is', async () => {
    const { settled, launched, aborted } = await run(flow([tasks(['hangs', 'fails', 'c'])]), {
      tool: ({ tool: name }) =>
        name === 'hangs' ? 'hangs' : name === 'fails' ? failed('NOT_FOUND') : ok(name),
    })
    expect(settled).toMatchObject({
      ok: false,
      error: { code: 'NOT_FOUND', details: { step: 'all/fails' } },
    })
    expect(launched).toEqual(['all/hangs', 'all/fails'])
    expect(aborted).toEqual(['all/hangs'])
  })

  test('[9.interpreter-parallel] goes on after a failure where the step says so', async () => {
    const { settled } = await run(
      flow([tasks(['a', 'fails', 'c'], { on_error: 'continue' })], {
        output: [
          '${{ steps.all.result }}',
          '${{ steps.all.errors[1].code }}',
          '${{ steps.all.status }}',
        ],
      }),
      { tool: ({ tool: name }) => (name === 'fails' ? failed('NOT_FOUND') : ok(name)) },
    )
    expect(settled).toEqual(ok([['a', null, 'c'], 'NOT_FOUND', 'failed']))
  })

  test('[9.interpreter-each] the same steps for every item, each with its own names', async () => {
    const each: WorkflowStep = {
      type: 'each',
      name: 'move',
      items: '${{ input.files }}',
      as: 'file',
      max_concurrency: 3,
      do: [
        tool('copy', { input: { from: '${{ file.path }}', index: '${{ file_index }}' } }),
        tool('drop', { input: { copied: '${{ steps.copy.result }}' } }),
      ],
    }
    const { settled, keys } = await run(flow([each]), {
      input: { files: [{ path: 'x' }, { path: 'y' }] },
      tool: ({ tool: name, given }) =>
        ok(name === 'copy' ? (given as { input: object }).input : given),
    })
    expect(settled).toEqual(
      ok([
        { input: { copied: { from: 'x', index: 0 } } },
        { input: { copied: { from: 'y', index: 1 } } },
      ]),
    )
    expect(new Set(keys)).toEqual(
      new Set(['move/0/copy', 'move/1/copy', 'move/0/drop', 'move/1/drop']),
    )
    expect((await run(flow([each]), { input: { files: 'no list' } })).settled).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', details: { step: 'move' } },
    })
    expect((await run(flow([each]), { input: { files: [] } })).settled).toEqual(ok([]))
  })
})

describe('time', () => {
  test('[9.interpreter-timeout] a step that holds others is stopped when its time is over; that is a failure like any other', async () => {
    const slow: WorkflowStep = {
      type: 'parallel',
      name: 'slow',
      tasks: [tool('hangs')],
      max_concurrency: 4,
      timeout: 5,
      on_error: 'continue',
    }
    const { settled, keys } = await run(flow([slow, tool('after')]), {
      tool: ({ tool: name }) => (name === 'hangs' ? 'hangs' : ok(name)),
    })
    expect(keys).toEqual(['slow~timeout', 'slow/hangs', 'after'])
    expect(settled).toEqual(ok('after'))
  })

  test('[9.interpreter-timeout] the time of the whole workflow', async () => {
    const { settled, keys } = await run(
      flow([tool('hangs', { compensate: [tool('never')] })], {
        timeout: 10,
        finally: [tool('sweep')],
      }),
      { tool: ({ tool: name }) => (name === 'hangs' ? 'hangs' : ok(name)) },
    )
    expect(keys).toEqual(['~timeout', 'hangs', 'finally/sweep'])
    expect(settled).toMatchObject({ ok: false, error: { code: 'TIMEOUT' } })
  })

  test('[9.interpreter-wait] for a time, until a moment, for an answer', async () => {
    const steps: WorkflowStep[] = [
      { type: 'wait', name: 'pause', for: 60 },
      { type: 'wait', name: 'moment', until: '${{ input.at }}' },
      { type: 'wait', name: 'go', answer: { prompt: 'Go on with ${{ input.at }}?' } },
    ]
    const { settled, keys } = await run(flow(steps), {
      input: { at: '2026-12-31T18:00:00Z' },
      answer: (id) => `answer to ${id}`,
    })
    expect(keys).toEqual(['pause', 'moment', 'go'])
    expect(
      (
        await run(
          flow([
            { type: 'wait', name: 'long', for: 60, timeout: 5, on_error: 'continue' },
            tool('after'),
          ]),
          { tool: ({ tool: name }) => ok(name) },
        )
      ).keys,
    ).toEqual(['long~timeout', 'long', 'after'])
    expect(settled).toEqual(ok('answer to go'))
    expect((await run(flow(steps), { input: { at: 'tomorrow' } })).settled).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', details: { step: 'moment' } },
    })
  })
})

describe('cancelling', () => {
  test('[9.interpreter-cancel] ends what is under way, takes back what was done, and does what is done in any case', async () => {
    const workflow = flow(
      [
        tool('a', { compensate: [tool('undo-a')] }),
        tool('hangs', { on_error: 'continue' }),
        tool('never'),
      ],
      { finally: [tool('sweep')] },
    )
    const { settled, keys, aborted } = await run(workflow, {
      cancelAt: 1,
      tool: ({ tool: name }) => (name === 'hangs' ? 'hangs' : ok(name)),
    })
    expect(keys).toEqual(['a', 'CANCEL', 'hangs', 'a~undo/undo-a', 'finally/sweep'])
    expect(aborted).toEqual(['hangs'])
    expect(settled).toMatchObject({ ok: false, error: { code: 'CANCELLED', message: 'enough' } })
  })

  test('[9.interpreter-cancel] does not disturb what cleans up', async () => {
    const workflow = flow([tool('a', { compensate: [tool('undo-a')] }), tool('fails')], {
      finally: [tool('sweep')],
    })
    const { settled, keys, aborted } = await run(workflow, {
      cancelAt: 3,
      tool: ({ tool: name }) => (name === 'fails' ? failed('NOT_FOUND') : ok(name)),
    })
    expect(keys).toEqual(['a', 'fails', 'a~undo/undo-a', 'CANCEL', 'finally/sweep'])
    expect(aborted).toEqual([])
    expect(settled).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
  })
})

describe('a workflow in a workflow', () => {
  const inner = flow([tool('in', { compensate: [tool('undo-in')] })], {
    name: 'inner',
    input: {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    },
    finally: [tool('inner-sweep')],
  })

  test('[9.interpreter-nested] has its own names, input and end; what it did is taken back when the outer one fails', async () => {
    const workflow = flow([
      { type: 'workflow', name: 'sub', workflow: inner, input: { n: '${{ input.n }}' } },
      tool('fails'),
    ])
    const { settled, keys } = await run(workflow, {
      input: { n: 1 },
      tool: ({ tool: name }) => (name === 'fails' ? failed('NOT_FOUND') : ok(name)),
    })
    expect(keys).toEqual(['sub/in', 'sub/finally/inner-sweep', 'fails', 'sub/in~undo/undo-in'])
    expect(settled).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' } })
  })

  test('[9.interpreter-nested] is taken back by the outer one also where its own end failed; nobody forgets what could not be taken back', async () => {
    const workflow = flow([{ type: 'workflow', name: 'sub', workflow: inner, input: { n: 1 } }])
    const late = await run(workflow, {
      tool: ({ tool: name }) => (name === 'inner-sweep' ? failed('NOT_FOUND') : ok(name)),
    })
    expect(late.keys).toEqual(['sub/in', 'sub/finally/inner-sweep', 'sub/in~undo/undo-in'])
    const twice = flow([
      tool('before', { compensate: [tool('undo-before')] }),
      {
        type: 'workflow',
        name: 'sub',
        workflow: flow([tool('in', { compensate: [tool('undo-in')] }), tool('fails')]),
      },
    ])
    const { settled } = await run(twice, {
      tool: ({ tool: name }) =>
        name === 'fails'
          ? failed('CONFLICT')
          : name.startsWith('undo')
            ? failed('PERMISSION')
            : ok(name),
    })
    expect(settled).toMatchObject({
      ok: false,
      error: {
        code: 'CONFLICT',
        details: {
          step: 'sub/fails',
          cleanup: [
            { details: { step: 'sub/in~undo/undo-in' } },
            { details: { step: 'before~undo/undo-before' } },
          ],
        },
      },
    })
  })

  test('[9.interpreter-nested] checks its input, and can still be cancelled after a part of it has cleaned up', async () => {
    const workflow = flow([
      { type: 'workflow', name: 'sub', workflow: inner, input: { n: '${{ input.n }}' } },
      tool('hangs'),
    ])
    expect((await run(workflow, { input: { n: 'x' } })).settled).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', details: { step: 'sub' } },
    })
    const { settled, aborted } = await run(workflow, {
      input: { n: 1 },
      cancelAt: 2,
      tool: ({ tool: name }) => (name === 'hangs' ? 'hangs' : ok(name)),
    })
    expect(aborted).toEqual(['hangs'])
    expect(settled).toMatchObject({ ok: false, error: { code: 'CANCELLED' } })
  })
})

describe('a decision', () => {
  test('[9.interpreter-decision] is a question with an id that follows from its place', async () => {
    const step: WorkflowStep = {
      type: 'ai_decision',
      name: 'strategy',
      decision_type: 'choose_strategy',
      instruction: 'For ${{ input.n }} files',
      options: [{ value: 'fast' }, { value: 'safe' }],
    }
    const asked: string[] = []
    const { settled } = await run(
      flow([{ type: 'parallel', name: 'p', tasks: [step], max_concurrency: 4 }]),
      { input: { n: 3 }, answer: (id) => (asked.push(id), 'safe') },
    )
    expect(settled).toEqual(ok(['safe']))
    expect(new Set(asked)).toEqual(new Set(['p.strategy']))
  })

  test('[9.interpreter-decision] has its choices and its default with values put in, whoever asks', async () => {
    const asked: WorkflowQuestion[] = []
    const question = {
      options: [
        { value: '${{ input.a }}', label: 'Take ${{ input.a }}' },
        { value: 'n${{ input.n }}' },
      ],
      default: '${{ input.a }}',
    }
    const steps: WorkflowStep[] = [
      { type: 'ai_decision', name: 'pick', decision_type: 'pick', ...question },
      { type: 'wait', name: 'go', answer: { prompt: 'Go?', ...question } },
    ]
    await run(flow(steps), {
      input: { a: 'left', n: 2 },
      answer: (_id, one) => (asked.push(one), 'left'),
    })
    expect(asked.length).toBeGreaterThan(1)
    for (const one of asked)
      expect(one).toMatchObject({
        options: [{ value: 'left', label: 'Take left' }, { value: 'n2' }],
        default: 'left',
      })
  })

  test('[9.interpreter-decision] has an id that no question at another place has', () => {
    expect(getQuestionId('all#2/x')).not.toBe(getQuestionId('all/2/x'))
    expect(getQuestionId('a~undo/q')).not.toBe(getQuestionId('a/undo/q'))
    expect(getForwardedQuestionId('a#2', 'q')).not.toBe(getForwardedQuestionId('a-2', 'q'))
  })

  test('[9.interpreter-decision] that nobody takes in time falls to its default, or fails', async () => {
    const step = { type: 'ai_decision', name: 'go', decision_type: 'go', timeout: 60 } as const
    expect((await run(flow([{ ...step, default: 'no' }]))).settled).toEqual(ok('no'))
    expect((await run(flow([step]))).settled).toMatchObject({
      ok: false,
      error: { code: 'TIMEOUT', details: { step: 'go' } },
    })
  })
})
