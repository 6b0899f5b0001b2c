import { expect, test } from 'vitest'
import { RUN_STATES } from '../../src/contract/run-state.ts'

test('a run is in one of these states', () => {
  expect(RUN_STATES).toEqual([
    'queued',
    'running',
    'waiting_ai',
    'completed',
    'failed',
    'cancelled',
  ])
})
