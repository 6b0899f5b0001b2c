import { describe, expect, test } from 'vitest'
import { INITIAL_RUN_STATE, applyRunEvent } from '../../../src/protocol/run-state.ts'
import type { RunStateInfo } from '../../../src/protocol/run-state.ts'
import type {
  BeginRecord,
  ExecutionRecord,
} from '../../../src/workflow/embedded/journal-records.ts'
import { createInlineEvents } from '../../../src/workflow/inline-run.ts'

const w = 'r-0123456789'
const at = '2030-01-01T00:00:00.000Z'
const question = { id: 'go', kind: 'confirm' as const, prompt: 'Go on?', action: 'go_on' }
const records: readonly (BeginRecord | ExecutionRecord)[] = [
  { t: 'begin', w, h: 'h', n: 'three', at, i: { n: 1 } },
  { t: 'done', w, k: 'one', e: { code: 'NETWORK', message: 'away', retryable: true } },
  { t: 'sleep', w, k: 'one#2~pause', until: at },
  { t: 'done', w, k: 'one#2~pause' },
  { t: 'done', w, k: 'one#2', v: 1, r: 'r-1111111111' },
  { t: 'ask', w, k: 'go', q: question },
  { t: 'done', w, k: 'go', v: true, by: 'answer' },
  { t: 'end', w, s: 'completed', v: 2, at: '2030-01-01T00:00:02.500Z' },
]

describe('the events of an execution without a log', () => {
  test('[9.light-watched] are those of its tools and questions, numbered, and each may follow the one before', () => {
    const events = createInlineEvents(w)
    const told = records.flatMap((record) => events.of(record))
    expect(
      told.map(({ type, task_id, status }) =>
        [type, task_id, status].filter((part) => part !== undefined).join(' '),
      ),
    ).toEqual([
      'runner_start',
      'task_submitted one',
      'task_done one failed',
      'task_submitted one#2',
      'task_done one#2 ok',
      'action_required',
      'runner_log',
      'result ok',
      'runner_end',
    ])
    expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1))
    expect(told[4]).toMatchObject({ child_run_id: 'r-1111111111', child_result: 1, ts: at })
    expect(told.at(-1)).toMatchObject({
      state: 'completed',
      rc: 0,
      duration_s: 2.5,
      ts: '2030-01-01T00:00:02.500Z',
    })
    const states: string[] = []
    let standing: RunStateInfo = INITIAL_RUN_STATE
    for (const event of told) {
      const next = applyRunEvent(standing, event)
      expect(next, event.type).toBeDefined()
      standing = next!
      states.push(standing.state)
    }
    expect(states.slice(5)).toEqual(['waiting_ai', 'running', 'running', 'completed'])
  })
})
