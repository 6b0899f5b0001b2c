import { expect, test } from 'vitest'
import { determineOutcome } from '../../src/runner/attempt-outcome.ts'
import type { FinishedAttempt } from '../../src/runner/attempt-outcome.ts'
import type { StopReason } from '../../src/runner/run-target.ts'

const RESULT = { type: 'result', status: 'ok' }
const INTERVENTIONS: readonly StopReason[] = [
  { kind: 'deadline', seconds: 1 },
  { kind: 'heartbeat', seconds: 1 },
  { kind: 'cancelled', reason: 'cancel-file' },
]

function ended(reason: 'exited' | 'cancelled', intervention: StopReason): FinishedAttempt {
  return {
    end: {
      child: { reason, status: 0, signal: null },
      speaksProtocol: true,
      stdout: Buffer.alloc(0),
      stderr: '',
    },
    intervention,
    last: RESULT,
    exitCodes: undefined,
    form: 'protocol',
  }
}

test('a tool that has ended by itself, while its output was still read, cannot be ended any more [7.overruled]', () => {
  for (const intervention of INTERVENTIONS) {
    expect(determineOutcome(ended('exited', intervention))).toMatchObject({
      state: 'completed',
      rc: 0,
      lines: [RESULT],
    })
    expect(determineOutcome(ended('cancelled', intervention))).toMatchObject({
      state: intervention.kind === 'cancelled' ? 'cancelled' : 'failed',
      lines: [{ reason: 'overruled', refused: RESULT }, {}],
    })
  }
})
