import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/protocol/run-state.ts'
import { applyEvent } from '../../../src/views/model/run-model-events.ts'
import { createRunModel } from '../../../src/views/model/run-model.ts'
import type { RunModel } from '../../../src/views/model/run-model.ts'
import { rounds } from '../../support/rounds.ts'

const START = Date.parse('2026-01-02T03:04:05.000Z')
type Line = {
  readonly type: string
  readonly attempt?: number
  readonly after?: number
  readonly [field: string]: unknown
}

/**
 * Events as a log has them: numbered, a tenth of a second after each other where nothing else is
 * said.
 */
function logOf(lines: readonly Line[]): RunEvent[] {
  let at = START
  return lines.map(({ after = 100, attempt = 1, ...line }, index) => ({
    v: 1,
    ts: new Date((at += after)).toISOString(),
    run_id: 'r-0123456789',
    seq: index + 1,
    attempt,
    ...line,
  }))
}

function modelOf(
  lines: readonly Line[],
  asked: Partial<Parameters<typeof createRunModel>[0]> = {},
): RunModel {
  const model = createRunModel({
    run_id: 'r-0123456789',
    tool: 'tools.convert',
    created: new Date(START).toISOString(),
    ...asked,
  })
  for (const event of logOf(lines)) applyEvent(model, event)
  return model
}

const states = (model: RunModel): unknown =>
  model.steps.map(({ key, state, depth }) => `${'  '.repeat(depth)}${key}: ${state}`)

describe('the model of a run', () => {
  test('is the same bit by bit, in one piece, and through JSON in between [10.model-pure]', () => {
    const kinds = [
      'progress',
      'heartbeat',
      'log',
      'artifact',
      'action_required',
      'runner_log',
      'task_started',
      'task_progress',
      'task_done',
      'error',
      'runner_end',
      'runner_start',
      'item',
      'diagnostic',
      'result',
    ]
    const line = fc.record({
      type: fc.constantFrom(...kinds),
      attempt: fc.constantFrom(1, 1, 1, 2),
      after: fc.nat(5000),
      step: fc.constantFrom('a', 'a/b', 'c', '', 'convert'),
      step_state: fc.constantFrom(undefined, 'running', 'ok', 'failed', 'retry', 'strange'),
      task_id: fc.constantFrom('a', 'a/0', 'c#2', 7),
      pct: fc.constantFrom(undefined, 3, 200, 'x'),
      msg: fc.constantFrom('words', undefined),
      interaction: fc.constantFrom(undefined, { id: 'a' }, { id: 'a.0.q' }),
      answer: fc.constantFrom(undefined, { id: 'a', value: 1 }, { id: 'q' }),
      state: fc.constantFrom('completed', 'failed', 'cancelled', 'strange'),
      child_event: fc.constantFrom(undefined, { pct: 5, msg: 'half' }, 'text'),
      status: fc.constantFrom('ok', 'failed'),
      code: fc.constantFrom(undefined, 'E_INPUT'),
    })
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.nat(60),
        fc.boolean(),
        (lines, cut, workflow) => {
          const all = logOf([{ type: 'runner_start' }, ...lines])
          const [whole, parts] = [
            createRunModel({
              run_id: 'r-0',
              tool: 'tools.convert',
              created: all[0]!.ts,
              workflow,
              heartbeat_grace_s: 2,
            }),
            createRunModel({
              run_id: 'r-0',
              tool: 'tools.convert',
              created: all[0]!.ts,
              workflow,
              heartbeat_grace_s: 2,
            }),
          ]
          for (const event of all) applyEvent(whole, event)
          for (const event of all.slice(0, cut)) applyEvent(parts, event)
          const moved = JSON.parse(JSON.stringify(parts)) as RunModel
          // What it knows already changes nothing.
          for (const event of all.slice(Math.max(0, cut - 3))) applyEvent(moved, event)
          expect(moved).toEqual(JSON.parse(JSON.stringify(whole)))
        },
      ),
      { numRuns: rounds(500) },
    )
  })

  test('shows the steps of a workflow as a tree, with tries, waits and runs [10.model-steps]', () => {
    const step = (path: string, state: string, more: object = {}): Line => ({
      type: 'log',
      level: 'debug',
      msg: `${path} ${state}`,
      step: path,
      step_state: state,
      ...more,
    })
    const model = modelOf(
      [
        { type: 'runner_start' },
        step('scan', 'running', { kind: 'tool' }),
        { type: 'task_started', task_id: 'scan', child_run_id: 'r-1111111111' },
        { type: 'task_progress', task_id: 'scan', child_event: { pct: 40, msg: 'two of five' } },
      ],
      { workflow: true },
    )
    expect(model.steps[0]).toMatchObject({
      key: 'scan',
      state: 'running',
      percent: 40,
      last: 'two of five',
      run_id: 'r-1111111111',
    })
    const later = modelOf(
      [
        { type: 'runner_start' },
        step('scan', 'running'),
        step('scan', 'retry', { try: 1 }),
        { type: 'task_started', task_id: 'scan#2', child_run_id: 'r-1' },
        step('scan', 'ok'),
        step('all', 'running', { kind: 'parallel' }),
        step('all/0', 'running'),
        step('all/1', 'running'),
        step('ask', 'running', { kind: 'ai_decision' }),
        { type: 'action_required', interaction: { id: 'ask', prompt: 'Go on?', timeout: 60 } },
        step('all/0', 'ok'),
        step('all/1', 'failed'),
        step('never', 'skipped'),
      ],
      { workflow: true },
    )
    expect(states(later)).toEqual([
      'scan: ok',
      'all: running',
      '  all/0: ok',
      '  all/1: failed',
      'ask: waiting',
      'never: skipped',
    ])
    expect(later.steps[0]).toMatchObject({
      tries: 2,
      spans: [{ state: 'failed' }, { state: 'pending' }, { state: 'ok' }],
    })
    expect(later).toMatchObject({
      state: 'waiting_ai',
      questions: [{ question: { id: 'ask' }, deadline: START + 60_000 + 1000 }],
    })
  })

  test('takes the stages that a tool names for steps, and leaves out the name of the tool itself [10.model-steps]', () => {
    const model = modelOf([
      { type: 'runner_start' },
      { type: 'progress', step: 'convert', pct: 1 },
      { type: 'progress', step: 'read', pct: 50 },
      { type: 'progress', step: 'write', pct: 10, msg: 'a' },
    ])
    expect(states(model)).toEqual(['read: ok', 'write: running'])
    expect(model.steps[1]).toMatchObject({ percent: 10, last: 'a' })
  })

  test('keeps attempts, their causes and their failures, and forgets what belonged to one before [10.model-attempts]', () => {
    const model = modelOf([
      { type: 'runner_start', level: 'L3', timeout_s: 30 },
      { type: 'log', msg: 'first words', level: 'info' },
      { type: 'error', code: 'E_NETWORK', msg: 'no route', retryable: true },
      { type: 'runner_end', state: 'failed', rc: 1, code: 'E_NETWORK', retry_in_s: 2 },
      { type: 'runner_start', attempt: 2, timeout_s: 30 },
      { type: 'action_required', attempt: 2, interaction: { id: 'q', prompt: 'Sure?' } },
      {
        type: 'runner_log',
        attempt: 2,
        after: 5000,
        answer: { id: 'q', by: 'dashboard', value: true, note: 'looked at it' },
      },
    ])
    expect(model.attempts).toMatchObject([
      {
        attempt: 1,
        cause: 'first',
        level: 'L3',
        state: 'failed',
        error: { code: 'E_NETWORK' },
        retry_in_s: 2,
      },
      {
        attempt: 2,
        cause: 'retry',
        state: 'running',
        spans: [{ state: 'running' }, { state: 'waiting_ai' }, { state: 'running' }],
      },
    ])
    expect(model.error).toBeUndefined()
    expect(model.tail).toEqual([])
    // The five seconds of the question are not counted.
    expect(model.deadline).toBe(model.attempts[1]!.began + 30_000 + 5000)
    expect(model.questions[0]!.answered).toMatchObject({
      by: 'dashboard',
      value: true,
      note: 'looked at it',
    })
  })

  test('counts silence only for tools that owe signs of life, and not while they wait', () => {
    const quiet: readonly Line[] = [{ type: 'heartbeat' }, { type: 'heartbeat', after: 40_000 }]
    const asked = { heartbeat_grace_s: 60 }
    expect(
      modelOf([{ type: 'runner_start' }, { type: 'start' }, ...quiet], asked).silences,
    ).toHaveLength(1)
    expect(
      modelOf(
        [
          { type: 'runner_start' },
          { type: 'log', msg: 'a' },
          { type: 'log', msg: 'b', after: 40_000 },
        ],
        asked,
      ).silences,
    ).toHaveLength(0)
    expect(
      modelOf([{ type: 'runner_start' }, { type: 'start' }, ...quiet], { ...asked, workflow: true })
        .silences,
    ).toHaveLength(0)
  })

  test('of very many steps keeps those that failed, that are going on, and those of the workflow itself [10.model-bounded]', () => {
    const told = (step: string, state: string): Line => ({
      type: 'log',
      step,
      step_state: state,
      msg: `${step} ${state}`,
    })
    const items = Array.from({ length: 3000 }, (_, index) => [
      told(`e/${index}/x`, 'running'),
      { type: 'task_started', task_id: `e/${index}/x` },
      told(`e/${index}/x`, index % 1000 === 999 ? 'failed' : 'ok'),
    ]).flat()
    const model = modelOf(
      [
        { type: 'runner_start' },
        told('first', 'ok'),
        told('e', 'running'),
        ...items,
        told('e/3000/x', 'running'),
        told('after', 'running'),
        told('after', 'failed'),
        { type: 'error', code: 'E_UNKNOWN', msg: 'late', context: { step: 'after' } },
      ],
      { workflow: true },
    )
    const fine = model.steps.filter(({ key, state }) => key.startsWith('e/') && state === 'ok')
    expect([fine.length, fine.at(-1)!.key, model.more_steps]).toEqual([1000, 'e/1000/x', 1997])
    expect(states({ ...model, steps: model.steps.filter((step) => !fine.includes(step)) })).toEqual(
      [
        'first: ok',
        'e: running',
        '  e/999/x: failed',
        '  e/1999/x: failed',
        '  e/2999/x: failed',
        '  e/3000/x: running',
        'after: failed',
      ],
    )
    expect(model.error).toEqual({ code: 'E_UNKNOWN', message: 'late', step: 'after' })
    const wrong = modelOf(
      [
        { type: 'runner_start' },
        ...Array.from({ length: 5000 }, (_, index) => [
          told(`e/${index}`, 'running'),
          told(`e/${index}`, 'failed'),
        ]).flat(),
      ],
      { workflow: true },
    )
    expect([wrong.steps.length, wrong.more_steps]).toEqual([1000, 4000])
  })

  test('stays small whatever a tool says [10.model-bounded]', () => {
    const lines = Array.from({ length: 5000 }, (_, index): Line => ({
      type: index % 2 ? 'progress' : 'artifact',
      step: `stage-${index}`,
      msg: 'x'.repeat(5000),
      name: 'y'.repeat(5000),
    }))
    const model = modelOf([
      { type: 'runner_start' },
      ...lines,
      ...Array.from({ length: 300 }, (_, index): Line => ({ type: `odd-${index}` })),
    ])
    expect(JSON.stringify(model).length).toBeLessThan(1_500_000)
    expect(model.more_steps).toBeGreaterThan(0)
    expect(model.more_marks).toBeGreaterThan(0)
  })
})
