import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { jsonSchema, tool, workflow } from 'toolable'
import type { BuiltWorkflow, Ref, Workflow, WorkflowBuilder, WorkflowStep } from 'toolable'

const findFiles = tool({
  name: 'find_files',
  summary: 's',
  input: z.object({ root: z.string(), depth: z.number().optional() }),
  output: z.array(
    z.object({
      path: z.string(),
      size: z.number(),
      owner: z.object({ name: z.string() }).optional(),
    }),
  ),
  run: () => [],
})
const copyFile = tool({
  name: 'copy_file',
  summary: 's',
  input: z.object({
    from: z.string(),
    to: z.object({ folder: z.string(), mode: z.enum(['new', 'over']) }),
  }),
  output: z.object({ copied: z.boolean() }),
  run: () => ({ copied: true }),
})
const now = tool({ name: 'now', summary: 's', run: () => ({ time: 'x' }) })
const plain = tool({
  name: 'plain',
  summary: 's',
  input: { type: 'object' },
  output: { type: 'object' },
  run: () => ({}),
})

declare const w: WorkflowBuilder<{ root: string; big: number; names: string[] }>
type Is<T> = T extends Ref<infer Value> ? Value : never

describe('[9.builder-types] references', () => {
  test('have the fields of what they stand for', () => {
    const scan = w.tool('scan', findFiles, { root: w.input.root })
    expectTypeOf(scan.result).toEqualTypeOf<
      Ref<{ path: string; size: number; owner?: { name: string } | undefined }[]>
    >()
    expectTypeOf(scan.result[0].path).toEqualTypeOf<Ref<string>>()
    expectTypeOf(scan.result[0].owner.name).toEqualTypeOf<Ref<string | null>>()
    expectTypeOf(scan.status).toEqualTypeOf<Ref<'ok' | 'failed' | 'skipped'>>()
    expectTypeOf(w.workflow.id).toEqualTypeOf<Ref<string>>()
    // @ts-expect-error there is no such field
    void scan.result[0].paht
    // @ts-expect-error a list has no length that an expression knows
    void scan.result.length
  })

  test('are checked against what the tool takes, at every depth', () => {
    w.tool('a', copyFile, { from: w.input.root, to: { folder: `${w.input.root}/x`, mode: 'new' } })
    w.tool('a', findFiles, { root: 'x', depth: w.input.big })
    w.tool('a', now)
    w.tool('a', now, {}, { retry: 2, timeout: '5m' })
    // @ts-expect-error a number is no text
    w.tool('a', findFiles, { root: w.input.big })
    // @ts-expect-error no such mode
    w.tool('a', copyFile, { from: 'x', to: { folder: 'x', mode: 'none' } })
    // @ts-expect-error a text is no mode
    // prettier-ignore
    w.tool('a', copyFile, { from: 'x', to: { folder: 'x', mode: w.input.root } })
    // @ts-expect-error the input is not optional
    w.tool('a', findFiles)
    // @ts-expect-error unknown field
    w.tool('a', findFiles, { root: 'x', deep: 1 })
    // @ts-expect-error no such option
    w.tool('a', findFiles, { root: 'x' }, { retries: 2 })
  })

  test('may be null where their step may be skipped or fail', () => {
    const maybe = w.tool('a', now, {}, { when: w.equals(w.input.root, 'x') })
    expectTypeOf(maybe.result).toEqualTypeOf<Ref<{ time: string } | null>>()
    expectTypeOf(maybe.result.time).toEqualTypeOf<Ref<string | null>>()
    expectTypeOf(w.tool('a', now, {}, { onError: 'continue' }).result).toEqualTypeOf<
      Ref<{ time: string } | null>
    >()
    // @ts-expect-error it may be null
    w.tool('b', findFiles, { root: maybe.result.time })
    w.tool('b', findFiles, { root: w.present(maybe.result.time) })
  })

  test('of what nobody has typed fit everywhere', () => {
    const said = w.tool('a', 'github.search', { query: w.input.root, page: 1 })
    expectTypeOf(said.result).toEqualTypeOf<Ref>()
    w.tool('b', findFiles, { root: said.result })
    expectTypeOf(w.tool<{ id: number }>('a', 'github.search').result.id).toEqualTypeOf<
      Ref<number>
    >()
    expectTypeOf(w.command<string>('a', 'x').result).toEqualTypeOf<Ref<string>>()
    expectTypeOf<Is<Ref<string>>>().toEqualTypeOf<string>()
    w.tool('c', plain, { anything: [w.input.root, 1] })
  })
})

describe('[9.builder-types] steps', () => {
  test('of several tasks give a list of their results', () => {
    const both = w.parallel('both', (p) => [
      p.tool('a', now, {}),
      p.tool('b', copyFile, { from: 'x', to: { folder: 'x', mode: 'new' } }),
      'line',
    ])
    expectTypeOf(both.result[0].time).toEqualTypeOf<Ref<string>>()
    expectTypeOf(both.result[1].copied).toEqualTypeOf<Ref<boolean>>()
    expectTypeOf(
      w.parallel('both', (p) => [p.tool('a', now, {})], { onError: 'continue', maxConcurrency: 2 })
        .result[0].time,
    ).toEqualTypeOf<Ref<string | null>>()
    // @ts-expect-error a task is a step or a line
    w.parallel('both', () => [1])
  })

  test('over a list know its items', () => {
    const scan = w.tool('scan', findFiles, { root: 'x' })
    const move = w.each(
      'move',
      scan.result,
      (file, inner, index) => {
        expectTypeOf(file.size).toEqualTypeOf<Ref<number>>()
        expectTypeOf(index).toEqualTypeOf<Ref<number>>()
        return inner.tool('copy', copyFile, { from: file.path, to: { folder: 'x', mode: 'over' } })
      },
      { as: 'file', maxConcurrency: 8 },
    )
    expectTypeOf(move.result).toEqualTypeOf<Ref<{ copied: boolean }[]>>()
    expectTypeOf(
      w.each('names', ['a', 'b'], (name, inner) => {
        inner.tool('c', findFiles, { root: name })
      }).result,
    ).toEqualTypeOf<Ref<unknown[]>>()
    // @ts-expect-error not a list
    w.each('no', w.input.root, () => undefined)
  })

  test('that ask give what the question allows', () => {
    expectTypeOf(
      w.decision('go', { instruction: '?', options: ['yes', { value: 'no', label: 'No' }] }).result,
    ).toEqualTypeOf<Ref<'yes' | 'no'>>()
    expectTypeOf(w.decision('go', { schema: z.object({ n: z.number() }) }).result.n).toEqualTypeOf<
      Ref<number>
    >()
    expectTypeOf(w.decision('go').result).toEqualTypeOf<Ref>()
    expectTypeOf(
      w.ask('who', { prompt: '?', schema: jsonSchema<string>({ type: 'string' }) }).result,
    ).toEqualTypeOf<Ref<string>>()
    const go = w.decision('go', { options: ['yes', 'no'] })
    w.wait('pause', '10m', {
      when: w.and(w.equals(go.result, 'yes'), w.not(w.more(w.input.big, 10))),
    })
    // @ts-expect-error nobody can answer that
    w.equals(go.result, 'maybe')
    // @ts-expect-error the default is one of the options
    w.decision('go', { options: ['yes', 'no'], default: 'maybe' })
    // @ts-expect-error a text and a number
    w.equals(w.input.big, 'x')
  })

  test('that take something back know what was made', () => {
    w.tool(
      'a',
      now,
      {},
      { compensate: (inner, made) => inner.tool('b', findFiles, { root: made.result.time }) },
    )
  })
})

describe('[9.builder-types] a workflow', () => {
  const tidy = workflow(
    { name: 'tidy', input: z.object({ root: z.string().default('.') }) },
    (b) => {
      const scan = b.tool('scan', findFiles, { root: b.input.root })
      return { first: scan.result[0].path, all: [scan.result], note: 'x' }
    },
  )

  test('has a type for what goes in and what comes out', () => {
    expectTypeOf(tidy).toEqualTypeOf<
      BuiltWorkflow<
        { root?: string | undefined },
        {
          first: string
          all: { path: string; size: number; owner?: { name: string } | undefined }[][]
          note: string
        }
      >
    >()
    expectTypeOf(workflow({ name: 'x' }, (b) => b.tool('a', now))).toEqualTypeOf<
      BuiltWorkflow<{ readonly [field: string]: unknown }, { time: string }>
    >()
    expectTypeOf(
      workflow({ name: 'x' }, (b) => {
        b.tool('a', now)
      }),
    ).toEqualTypeOf<BuiltWorkflow<{ readonly [field: string]: unknown }>>()
    expectTypeOf(tidy.definition()).resolves.toEqualTypeOf<Workflow>()
  })

  test('has steps of every kind, each with its own fields', () => {
    expectTypeOf<WorkflowStep['type']>().toEqualTypeOf<
      'tool' | 'ai_decision' | 'parallel' | 'each' | 'wait' | 'workflow'
    >()
    expectTypeOf<Workflow['steps'][number]>().toEqualTypeOf<WorkflowStep>()
    expectTypeOf<Extract<WorkflowStep, { type: 'parallel' }>['tasks']>().toEqualTypeOf<
      readonly WorkflowStep[]
    >()
  })

  test('can be a step of another', () => {
    expectTypeOf(w.nested('sub', tidy, { root: w.input.root }).result.first).toEqualTypeOf<
      Ref<string>
    >()
    // @ts-expect-error its input is a text
    w.nested('sub', tidy, { root: w.input.big })
  })
})
