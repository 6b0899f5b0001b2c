import { expect, test } from 'vitest'
import { conclude } from '../../src/runner/attempt/ending/conclude.ts'
import type { Happened } from '../../src/runner/attempt/ending/ending.ts'
import type { Intervention } from '../../src/runner/attempt/ending/intervention.ts'

const RESULT = { type: 'result', status: 'ok' }
const INTERVENTIONS: readonly Intervention[] = [
  { why: 'deadline', seconds: 1 },
  { why: 'heartbeat', seconds: 1 },
  { why: 'cancelled', reason: 'cancel-file' },
]

function ended(reason: 'exited' | 'cancelled', intervention: Intervention): Happened {
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
    expect(conclude(ended('exited', intervention))).toMatchObject({
      state: 'completed',
      rc: 0,
      lines: [RESULT],
    })
    expect(conclude(ended('cancelled', intervention))).toMatchObject({
      state: intervention.why === 'cancelled' ? 'cancelled' : 'failed',
      lines: [{ reason: 'overruled', refused: RESULT }, {}],
    })
  }
})
