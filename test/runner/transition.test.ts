import { expect, test } from 'vitest'
import { INITIAL_RUN_STATE, applyRunEvent } from '../../src/protocol/run-state.ts'
import type { RunStateInfo } from '../../src/protocol/run-state.ts'
import { getRetryDelaySeconds } from '../../src/runner/perform-run.ts'

type Step = { readonly type: string; readonly attempt?: number; readonly [field: string]: unknown }

function follow(...steps: readonly Step[]): RunStateInfo | undefined {
  return steps.reduce<RunStateInfo | undefined>(
    (at, step) => at && applyRunEvent(at, { attempt: 1, ...step }),
    INITIAL_RUN_STATE,
  )
}

const start = (attempt = 1): Step => ({ type: 'runner_start', attempt })
const end = (state: string, attempt = 1): Step => ({ type: 'runner_end', state, attempt })
const ask = (id: string): Step => ({ type: 'action_required', interaction: { id } })
const answer = (id: string): Step => ({ type: 'runner_log', answer: { id } })

test('a run waits while a question is open, and goes on when the last one is answered [7.states]', () => {
  expect(follow(start())).toEqual({ state: 'running', attempt: 1, open: [] })
  expect(follow(start(), ask('a'), ask('b'), answer('a'))).toEqual({
    state: 'waiting_ai',
    attempt: 1,
    open: ['b'],
  })
  expect(follow(start(), ask('a'), answer('a'))?.state).toBe('running')
  expect(follow(start(), { type: 'action_required', action: 'told' })?.state).toBe('running')
  expect(follow(start(), ask('a'), end('failed'))).toEqual({
    state: 'failed',
    attempt: 1,
    open: [],
  })
})

test('only another attempt leads out of failed and cancelled, and nothing out of completed [7.states]', () => {
  for (const state of ['failed', 'cancelled']) {
    expect(follow(start(), end(state), start(2))).toEqual({
      state: 'running',
      attempt: 2,
      open: [],
    })
    for (const step of [
      start(),
      start(3),
      end('completed'),
      { type: 'result' },
      answer('a'),
      { type: 'runner_log' },
    ])
      expect(follow(start(), end(state), step)).toBeUndefined()
  }
  for (const step of [start(2), end('failed'), { type: 'progress' }])
    expect(follow(start(), end('completed'), step)).toBeUndefined()
})

test('what never started can fail or be cancelled, and is no success; what runs does not start again [7.states]', () => {
  expect([end('failed'), end('cancelled')].map((step) => follow(step)?.state)).toEqual([
    'failed',
    'cancelled',
  ])
  for (const step of [end('completed'), { type: 'progress' }, { type: 'result' }, end('running')])
    expect(follow(step)).toBeUndefined()
  expect(follow(start(), start(2))).toBeUndefined()
  expect(follow(start(), ask('a'), start(2))).toBeUndefined()
})

test('pauses double, differ by chance, and have a bound [7.retry-pauses]', () => {
  expect([2, 3, 4, 5].map((attempt) => getRetryDelaySeconds(attempt, 1))).toEqual([1, 2, 4, 8])
  expect(getRetryDelaySeconds(3, 0)).toBe(1)
  expect(getRetryDelaySeconds(3, 0.5)).toBe(1.5)
  expect(getRetryDelaySeconds(100, 1)).toBe(60)
})
