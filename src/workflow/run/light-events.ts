import { protocolName } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { RunEvent } from '../../contract/run-state.ts'
import { exitStatusOf } from '../../runner/summary/exit-status.ts'
import { readDone } from '../engines/embedded/journal/record.ts'
import type {
  BeginRecord,
  DoneRecord,
  EndRecord,
  ExecutionRecord,
} from '../engines/embedded/journal/record.ts'
import { endLine } from './end-line.ts'
import { toolNameOf } from './make-workflow-request.ts'

/** Tells an execution that has no log of its own as events of a run. */
export type LightEvents = {
  /** What a record, the next one, tells. */
  of(record: BeginRecord | ExecutionRecord): readonly RunEvent[]
  /** The end of one that nobody goes on with. */
  interrupted(): readonly RunEvent[]
}

/** Begins to tell an execution from its records: the same records always give the same events. Only its first and its last record have times; what lies between has that of the first. */
export function startLightEvents(id: string): LightEvents {
  let seq = 0
  let began = ''
  // Ends of pauses and answers look like those of tools.
  const pauses = new Set<string>()
  const questions = new Map<string, string>()
  const event = (
    { type, ...fields }: JsonObject & { readonly type: string },
    ts = began,
  ): RunEvent => ({ v: 1, type, ts, run_id: id, seq: ++seq, attempt: 1, ...fields })
  const done = (record: DoneRecord): RunEvent[] => {
    const { k, v, e, r, by = 'answer' } = record
    const question = questions.get(k)
    if (pauses.has(k)) return []
    if (question !== undefined)
      return [
        event({
          type: 'runner_log',
          level: 'info',
          ...(e
            ? { msg: e.message, answer: { id: question, withdrawn: true } }
            : { msg: `answered by ${by}`, answer: { id: question, by, value: v } }),
        }),
      ]
    const about = { task_id: k, ...(r !== undefined && { child_run_id: r }) }
    return [
      event({ type: 'task_submitted', ...about }),
      event({
        type: 'task_done',
        ...about,
        status: e ? 'failed' : 'ok',
        child_result: e ?? v ?? null,
      }),
    ]
  }
  const end = (record: EndRecord): RunEvent[] => {
    const { s: state, e, at } = record
    const code = e && protocolName(e.code, e.retryable)
    const seconds = (Date.parse(at) - Date.parse(began)) / 1000
    return [
      event(endLine(readDone({ ...record, t: 'done', k: '' })), at),
      event(
        {
          type: 'runner_end',
          state,
          rc: exitStatusOf({ state, ...(code !== undefined && { error: { code } }) }),
          ...(state === 'failed' && { code }),
          ...(seconds >= 0 && { duration_s: seconds }),
        },
        at,
      ),
    ]
  }
  return {
    of(record) {
      if (record.t === 'begin') {
        began = record.at
        return [
          event({ type: 'runner_start', tool: toolNameOf(record.n), args: [], input: record.i }),
        ]
      }
      if (record.t === 'done') return done(record)
      if (record.t === 'end') return end(record)
      if (record.t === 'cancel')
        return [
          event({
            type: 'runner_log',
            level: 'info',
            msg: `its end was asked for: ${record.reason}`,
          }),
        ]
      if (record.t === 'sleep') pauses.add(record.k)
      if (record.t !== 'ask') return []
      questions.set(record.k, record.q.id)
      return [event({ type: 'action_required', action: record.q.action, interaction: record.q })]
    },
    interrupted: () => [
      event({
        type: 'runner_error',
        code: 'E_INTERRUPTED',
        msg: 'the process that executed it is gone',
        hint: `toolable workflow resume ${id}`,
      }),
      event({ type: 'runner_end', state: 'failed', rc: 1, code: 'E_INTERRUPTED' }),
    ],
  }
}
