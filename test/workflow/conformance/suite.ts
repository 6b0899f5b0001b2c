import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { WorkflowStep, Workflow } from '../../../src/workflow/definition/model.ts'
import { renewAfterFailure } from '../../support/renew-after-failure.ts'
import type { EngineUnderTest, Ending } from './engine-under-test.ts'
import { comparable } from './engine-under-test.ts'

// A few tools long: each life gets a little further.
const LONGEST_LIFE_MS = 400

/**
 * The suite of every engine: the same definitions, disturbed in every way that the engine knows,
 * end as if undisturbed.
 */
export function conformanceSuite(name: string, open: () => Promise<EngineUnderTest>): void {
  const { engine, logs, begin, counts, begun, openGate, asked, answerAll, reviveAndLook } =
    openBench(open)

  describe(`${name}, undisturbed`, () => {
    test('takes every kind of step, and each once', async () => {
      const id = await begin(everything)
      expect(comparable(await answerAll(id))).toEqual(EVERYTHING)
      expect([...counts(id)].sort()).toEqual(NAMES.map((step) => [step, 1]).sort())
    })

    test('fails, takes back what was done in the order of the last first, and does what is done in any case', async () => {
      const id = await begin(failing)
      expect(comparable(await engine().outcome(id))).toEqual(FAILED)
      expect(engine().project.counted(logs.get(id))).toEqual([
        'one',
        'two',
        'broken',
        'undo-two',
        'undo-one',
        'clean',
      ])
    })
  })

  describe(`${name}, killed`, () => {
    test('in a tool, in parallel tools and while it asks comes to the same end', async () => {
      const id = await begin((tool) => gated(everything, tool, ['first', 'b']))
      await begun(id, 'first')
      await engine().kill(id)
      let look = await reviveAndLook(id)
      openGate(id, 'first')
      await begun(id, 'b')
      await look()
      await engine().kill(id)
      look = await reviveAndLook(id)
      openGate(id, 'b')
      await asked(id, 'choose')
      await look()
      await engine().kill(id)
      look = await reviveAndLook(id)
      expect(comparable(await answerAll(id))).toEqual(EVERYTHING)
      await look()
    })

    test('while it takes back what it did goes on with that', async () => {
      const id = await begin((tool) => gated(failing, tool, ['undo-two']))
      await begun(id, 'undo-two')
      await engine().kill(id)
      const look = await reviveAndLook(id)
      openGate(id, 'undo-two')
      expect(comparable(await engine().outcome(id))).toEqual(FAILED)
      await look()
    })

    test('takes the answer that was given while it was dead', async () => {
      const id = await begin(everything)
      await asked(id, 'choose')
      await engine().kill(id)
      await engine().answer(id, 'choose', 'left')
      await engine().revive(id)
      expect(comparable(await engine().outcome(id))).toEqual(EVERYTHING)
      expect([...counts(id)].sort()).toEqual(NAMES.map((step) => [step, 1]).sort())
    })
  })

  describe(`${name}, cancelled`, () => {
    test('in a tool, in parallel tools, in a pause and in a question takes back what it did, and cleans up', async () => {
      for (const make of [
        (tool: MakeTool): WorkflowStep => tool('long', { gate: 'never' }),
        (tool: MakeTool): WorkflowStep => ({
          type: 'parallel',
          name: 'all',
          max_concurrency: 2,
          tasks: [
            tool('long', { gate: 'never' }),
            tool('beside', { gate: 'never' }),
            tool('later'),
          ],
        }),
        (): WorkflowStep => ({ type: 'wait', name: 'long', for: 3600 }),
        (): WorkflowStep => ({
          type: 'ai_decision',
          name: 'long',
          decision_type: 'pick',
          options: [{ value: 'left' }],
        }),
      ]) {
        const id = await begin((tool) => ({
          name: 'cancelled',
          steps: [tool('made', { compensate: [tool('unmade')] }), make(tool)],
          finally: [tool('clean')],
        }))
        const step = make(toolIn(engine(), 'x'))
        if (step.type === 'tool' || step.type === 'parallel') await begun(id, 'long')
        else if (step.type === 'ai_decision') await asked(id, 'long')
        else await expect.poll(() => engine().recorded(id)).toContain('made')
        await engine().cancel(id)
        expect([step.type, (await engine().outcome(id)).state]).toEqual([step.type, 'cancelled'])
        expect([
          counts(id).get('made'),
          counts(id).get('unmade'),
          counts(id).get('clean'),
          counts(id).get('later'),
        ]).toEqual([1, 1, 1, undefined])
      }
    })
  })
}

/**
 * The same definitions, killed at every named place and at so many random moments, end as if
 * undisturbed.
 */
export function killSeries(
  name: string,
  open: () => Promise<EngineUnderTest>,
  kills: number,
): void {
  const { engine, begin, answerAll, reviveAndLook } = openBench(open)

  describe(`${name}, killed`, () => {
    test('at every place that has a name comes to the same end', async () => {
      for (const crashAt of engine().crashPoints) {
        const id = await begin(everything, { crashAt })
        await engine().died(id)
        const look = await reviveAndLook(id)
        expect([crashAt, comparable(await answerAll(id))]).toEqual([crashAt, EVERYTHING])
        await look()
      }
    })

    test(`at ${kills} random moments comes to the same end, and nothing on record is done again`, async () => {
      for (let left = kills; left > 0;) {
        const id = await begin(everything)
        const looks: (() => Promise<void>)[] = []
        let isAnswered = false
        for (;;) {
          await new Promise((resolve) => {
            setTimeout(resolve, Math.random() * LONGEST_LIFE_MS)
          })
          if (left === 0 || (await engine().isOver(id))) break
          // In the midst of it, so that some of the moments come after the question.
          if (!isAnswered && (await engine().questions(id)).includes('choose')) {
            await engine().answer(id, 'choose', 'left')
            isAnswered = true
          }
          left -= 1
          if (engine().killServer && Math.random() < 0.3) await engine().killServer?.()
          else {
            await engine().kill(id)
            looks.push(await reviveAndLook(id))
          }
        }
        expect(comparable(isAnswered ? await engine().outcome(id) : await answerAll(id))).toEqual(
          EVERYTHING,
        )
        for (const look of looks) await look()
      }
    }, 600_000)
  })
}

// An engine and what the tests of both series do with it.
function openBench(open: () => Promise<EngineUnderTest>) {
  let opened: EngineUnderTest | undefined
  let executions = 0
  renewAfterFailure(
    async () => {
      opened = await open()
    },
    async () => opened?.close(),
  )
  const engine = (): EngineUnderTest => opened!

  const logs = new Map<string, string>()
  /** Starts a definition whose steps write their names into a file of their own. */
  const begin = async (
    make: (tool: MakeTool) => Workflow,
    options: { readonly crashAt?: string } = {},
  ): Promise<string> => {
    const log = `counted-${(executions += 1)}`
    const id = await engine().start(make(toolIn(engine(), log)), options)
    logs.set(id, log)
    return id
  }
  const counts = (id: string): ReadonlyMap<string, number> =>
    countWords(engine().project.counted(logs.get(id)))
  const begun = (id: string, step: string, times = 1): Promise<unknown> =>
    expect.poll(() => counts(id).get(step) ?? 0).toBeGreaterThanOrEqual(times)
  const openGate = (id: string, gate: string): void =>
    writeFileSync(engine().project.path(`${logs.get(id)!}-${gate}`), '')
  const asked = async (id: string, question: string): Promise<void> => {
    try {
      await expect.poll(() => engine().questions(id)).toContain(question)
    } catch (error) {
      throw new Error(`${id} does not ask '${question}': ${await engine().describe(id)}`, {
        cause: error,
      })
    }
  }
  const answerAll = async (id: string): Promise<Ending> => {
    await asked(id, 'choose')
    await engine().answer(id, 'choose', 'left')
    return engine().outcome(id)
  }
  /** What is on record when everything is dead is not done again. */
  const reviveAndLook = async (id: string): Promise<() => Promise<void>> => {
    const [recorded, before] = [await engine().recorded(id), counts(id)]
    await engine().revive(id)
    return async () => {
      for (const step of recorded)
        expect([step, counts(id).get(step)]).toEqual([step, before.get(step)])
    }
  }
  return { engine, logs, begin, counts, begun, openGate, asked, answerAll, reviveAndLook }
}

type MakeTool = (
  name: string,
  more?: { readonly gate?: string; readonly fail?: string; readonly [field: string]: unknown },
) => WorkflowStep

function toolIn({ project }: EngineUnderTest, log: string): MakeTool {
  return (name, { gate, fail, ...more } = {}) =>
    ({
      type: 'tool',
      name,
      tool: 'count',
      ...more,
      input: {
        name: (more['as'] as string | undefined) ?? name,
        log: project.path(log),
        ...(gate !== undefined && { gate: project.path(`${log}-${gate}`) }),
        ...(fail !== undefined && { fail: project.write(`${log}-fail`, fail) }),
      },
    }) as unknown as WorkflowStep
}

/** Every kind of step. */
function everything(tool: MakeTool): Workflow {
  return {
    name: 'everything',
    steps: [
      tool('first'),
      {
        type: 'parallel',
        name: 'both',
        max_concurrency: 2,
        tasks: [tool('a'), tool('b'), tool('c')],
      },
      {
        type: 'each',
        name: 'items',
        items: ['x', 'y'],
        as: 'item',
        max_concurrency: 2,
        do: [named(tool('one'), 'item-${{ item }}')],
      },
      tool('never', { when: "steps.first.result.name == 'other'" }),
      { type: 'wait', name: 'pause', for: 0.05 },
      tool('optional', { fail: 'E_PERMISSION', on_error: 'continue' }),
      { type: 'workflow', name: 'nested', workflow: { name: 'inner', steps: [tool('inside')] } },
      {
        type: 'ai_decision',
        name: 'choose',
        decision_type: 'pick',
        instruction: 'Which?',
        options: [{ value: 'left' }, { value: 'right' }],
      },
      named(tool('last'), 'last-${{ steps.choose.result }}'),
    ],
    finally: [tool('clean')],
    output: {
      first: '${{ steps.first.result.name }}',
      both: '${{ steps.both.result }}',
      items: '${{ steps.items.result }}',
      never: '${{ steps.never.result }}',
      optional: '${{ steps.optional.error.code }}',
      nested: '${{ steps.nested.result.name }}',
      chosen: '${{ steps.choose.result }}',
      last: '${{ steps.last.result }}',
    },
  }
}
const NAMES = [
  'first',
  'a',
  'b',
  'c',
  'item-x',
  'item-y',
  'optional',
  'inside',
  'last-left',
  'clean',
]
const EVERYTHING: Ending = {
  state: 'completed',
  result: {
    first: 'first',
    both: ['a', 'b', 'c'].map((name, index) => ({
      name,
      key: expect.stringMatching(new RegExp(`^r-id/both/(${index}|${name})$`)) as string,
    })),
    items: [
      { name: 'item-x', key: 'r-id/items/0/one' },
      { name: 'item-y', key: 'r-id/items/1/one' },
    ],
    never: null,
    optional: 'PERMISSION',
    nested: 'inside',
    chosen: 'left',
    last: { name: 'last-left', key: 'r-id/last' },
  },
}

/** A failure after two steps that can be taken back. */
function failing(tool: MakeTool): Workflow {
  return {
    name: 'failing',
    steps: [
      tool('one', { compensate: [tool('undo-one')] }),
      tool('two', { compensate: [tool('undo-two')] }),
      tool('broken', { fail: 'E_PERMISSION' }),
      tool('after'),
    ],
    finally: [tool('clean')],
  }
}
const FAILED: Ending = { state: 'failed', code: 'PERMISSION', step: 'broken' }

// What a tool writes down need not be the name of its step.
function named(step: WorkflowStep, name: string): WorkflowStep {
  return {
    ...step,
    input: { ...(step as { readonly input?: object }).input, name },
  } as WorkflowStep
}

function gated(
  make: (tool: MakeTool) => Workflow,
  tool: MakeTool,
  gates: readonly string[],
): Workflow {
  return make((name, more = {}) =>
    tool(name, { ...more, ...(gates.includes(name) && { gate: name }) }),
  )
}

function countWords(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}
