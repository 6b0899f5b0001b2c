import { expect, test } from 'vitest'
import { RUN_STATES } from '../../src/protocol/run-state.ts'

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
