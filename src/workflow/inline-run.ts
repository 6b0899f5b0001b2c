/**
 * Presents an inline execution, which has no run folder, as a run: its records become run events.
 */

import { toProtocolCode } from '../protocol/errors.ts'
import type { RunEvent } from '../protocol/run-state.ts'
import type { RunRequest } from '../runner/request.ts'
import { isRunIdWithoutFolder } from '../runner/run-paths.ts'
import { getExitStatus } from '../runner/summary.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import { findInlineExecution, followExecutionRecords } from './embedded/find-executions.ts'
import type {
  BeginRecord,
  DoneRecord,
  EndRecord,
  ExecutionRecord,
} from './embedded/journal-records.ts'
import { getDoneOutcome } from './embedded/journal-records.ts'
import { getInlinePaths } from './embedded/segment-files.ts'
import { toWorkflowToolName } from './request.ts'
import { toFinalLine } from './run-protocol.ts'

/** An execution that has no folder of its own, where commands look for a run. */
export type InlineRun = {
  readonly request: Pick<RunRequest, 'run_id' | 'tool' | 'created'>
  /**
   * Its events; with `follow` until it is over, or continues as a run: then the last event is no
   * end.
   */
  events(how: {
    readonly follow: boolean
    readonly signal: AbortSignal
  }): AsyncGenerator<RunEvent[]>
}

/**
 * The execution that a word means, its whole id; undefined where there is none, or it is a run of
 * its own.
 */
export async function findInlineRun(
  root: string,
  word: string,
): ReturnType<typeof findInlineExecution> {
  return isRunIdWithoutFolder(root, word)
    ? findInlineExecution(getInlinePaths(root), word)
    : undefined
}

/** The same, as something that can be watched. */
export async function openInlineRun(root: string, word: string): Promise<InlineRun | undefined> {
  const found = await findInlineRun(root, word)
  if (!found) return undefined
  const {
    listed,
    execution: { id, name, created },
  } = found
  return {
    request: { run_id: id, tool: toWorkflowToolName(name), created },
    async *events(how) {
      const events = createInlineEvents(id)
      for (let told = 0; ;) {
        let place = 0
        for await (const records of followExecutionRecords(getInlinePaths(root), listed, how)) {
          const fresh = records.slice(Math.max(0, told - place))
          place += records.length
          told = Math.max(told, place)
          yield fresh.flatMap((record) => events.of(record))
          if (fresh.some(({ t }) => t === 'end' || t === 'moved')) return
        }
        const now = how.signal.aborted ? undefined : (await findInlineRun(root, id))?.execution
        if (now?.error && now.ended === undefined) yield [...events.interrupted()]
        // Another process may have resumed it meanwhile, and continues in the same file.
        if (!how.follow || !now || now.error) return
      }
    },
  }
}

/** Presents an execution without a log as events of a run. */
type InlineEvents = {
  /** The events of the next record. */
  of(record: BeginRecord | ExecutionRecord): readonly RunEvent[]
  /** The events of one whose process died. */
  interrupted(): readonly RunEvent[]
}

/**
 * Presents the records of an execution as events: the same records always give the same events.
 * Only the first and the last record have times; what is between has that of the first.
 */
export function createInlineEvents(id: string): InlineEvents {
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
    const about = compact({ task_id: k, child_run_id: r })
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
    const code = e && toProtocolCode(e.code, e.retryable)
    const seconds = (Date.parse(at) - Date.parse(began)) / 1000
    return [
      event(toFinalLine(getDoneOutcome({ ...record, t: 'done', k: '' })), at),
      event(
        compact({
          type: 'runner_end',
          state,
          rc: getExitStatus(compact({ state, error: code !== undefined ? { code } : undefined })),
          code: state === 'failed' ? code : undefined,
          duration_s: seconds >= 0 ? seconds : undefined,
        }),
        at,
      ),
    ]
  }
  return {
    of(record) {
      if (record.t === 'begin') {
        began = record.at
        return [
          event({
            type: 'runner_start',
            tool: toWorkflowToolName(record.n),
            args: [],
            input: record.i,
          }),
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
