import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WorkflowStep, Workflow } from '../../../src/workflow/definition/model.ts'
import type { OperationOutcome } from '../../../src/workflow/engine.ts'
import { Crash, failed, simulate } from './simulated-engine.ts'
import type { Entry, Simulation } from './simulated-engine.ts'
import { rounds } from '../../support/rounds.ts'

type Shape = { readonly steps: readonly WorkflowStep[]; readonly finally: readonly WorkflowStep[] }

// Names say how a tool behaves; each stands once, so that a key means one thing.
const shapes: fc.Arbitrary<Shape> = fc.gen().map((g) => {
  let count = 0
  const step = (depth: number): WorkflowStep => {
    const name = `s${(count += 1)}`
    const common = {
      name,
      ...(g(fc.integer, { min: 0, max: 5 }) === 0 && { on_error: 'continue' as const }),
      ...(g(fc.integer, { min: 0, max: 3 }) === 0 && {
        compensate: [{ type: 'tool' as const, name: `u${count}`, tool: 'works' }],
      }),
      ...(g(fc.integer, { min: 0, max: 6 }) === 0 && { when: 'false' }),
    }
    const kind = g(fc.integer, { min: 0, max: depth > 0 ? 7 : 4 })
    if (kind <= 3)
      return {
        type: 'tool',
        ...common,
        tool: ['works', 'works', 'flaky', 'fails'][kind]!,
        input: {},
      }
    if (kind === 4) return { type: 'wait', ...common, for: 1 }
    if (kind === 5)
      return {
        type: 'parallel',
        ...common,
        tasks: list(depth - 1, 4),
        max_concurrency: g(fc.integer, { min: 1, max: 3 }),
        ...(g(fc.boolean) && { timeout: 5 }),
      }
    if (kind === 6)
      return {
        type: 'each',
        ...common,
        items: [1, 2, 3],
        as: 'item',
        do: list(depth - 1, 2),
        max_concurrency: g(fc.integer, { min: 1, max: 3 }),
      }
    return {
      type: 'workflow',
      ...common,
      workflow: {
        name: 'inner',
        steps: list(depth - 1, 3),
        ...(g(fc.boolean) && { finally: list(0, 1) }),
      },
    }
  }
  const list = (depth: number, most: number): WorkflowStep[] =>
    Array.from({ length: g(fc.integer, { min: 1, max: most }) }, () => step(depth))
  return { steps: list(2, 4), finally: list(0, 2) }
})

const behave: NonNullable<Simulation['tool']> = ({ tool, step, attempt }): OperationOutcome =>
  tool === 'fails'
    ? failed('NOT_FOUND')
    : tool === 'flaky' && attempt === 1
      ? failed('DEPENDENCY', true)
      : { ok: true, value: `${step}!` }

test('[9.interpreter-replay] an engine that dies at any entries of its journal comes to the same end by the same way, and records nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      shapes,
      fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }),
      fc.option(fc.integer({ min: 0, max: 8 })),
      async (shape, choices, crashes, cancelAt) => {
        const workflow: Workflow = { name: 'any', ...shape }
        // What ends next depends on the length of the journal alone, so that a disturbed run can be
        // compared with an undisturbed one.
        const world = (journal: Entry[]): Simulation => ({
          journal,
          tool: behave,
          pick: (count) => choices[journal.length % choices.length]! % count,
          ...(cancelAt !== null && { cancelAt }),
        })
        const calm: Entry[] = []
        const expected = await simulate(workflow, {}, world(calm))

        const journal: Entry[] = []
        let result: OperationOutcome | undefined
        let crashAt = 0
        for (const next of [...crashes, Infinity]) {
          crashAt += next
          result = await simulate(workflow, {}, { ...world(journal), crashAt }).catch(
            (error: unknown) => {
              if (error instanceof Crash) return undefined
              throw error
            },
          )
          if (result) break
        }
        expect(journal).toEqual(calm)
        expect(result).toEqual(expected)
        const keys = journal.flatMap((entry) => ('key' in entry ? [entry.key] : []))
        expect(new Set(keys).size).toBe(keys.length)
        // Read again from the whole journal, nothing is launched.
        const launched: string[] = []
        expect(await simulate(workflow, {}, { ...world(journal), launched, crashAt: 0 })).toEqual(
          expected,
        )
        expect(launched).toEqual([])
      },
    ),
    { numRuns: rounds(1000) },
  )
})
