/**
 * One execution that runs in this process.
 */

import { crashPoint } from '../../process/host.ts'
import type { Answerer } from '../../protocol/events.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact } from '../../util/values.ts'
import type { Execution, PerformTool, WorkflowQuestion } from '../engine.ts'
import { interpretWorkflow } from '../interpreter.ts'
import { createDurableExecution } from './durable-context.ts'
import type { BeginRecord } from './journal-records.ts'
import {
  createEndRecord,
  createOverError,
  toFinishedExecution,
  toOpenExecution,
} from './journal-records.ts'
import type { ExecutionRecords } from './segment-reader.ts'
import type { JournalSegment } from './segments.ts'

/** What an execution needs of its engine. */
export type ExecutionHost = {
  readonly perform: PerformTool
  readonly answer?: Answerer | undefined
  readonly now: () => number
}

/** An execution that runs in this process. */
export type LiveExecution = {
  readonly begin: Omit<BeginRecord, 'i'>
  readonly done: Promise<Execution>
  cancel(reason: string): Promise<void>
  /** Answers a question. Throws NOT_FOUND where it is not open. */
  answer(question: string, value: unknown, by: string | undefined): Promise<void>
  show(): Execution
  stop(error: ToolError): void
}

export type OpenedExecution = Pick<ExecutionRecords, 'begin' | 'definition' | 'records'>

/**
 * Continues an execution from its records, in a segment of this process. `onOver` is called before
 * `done` settles.
 */
export function runExecution(
  { begin, definition, records }: OpenedExecution,
  segment: JournalSegment,
  host: ExecutionHost,
  onOver: () => void,
): LiveExecution {
  let isOver = false
  const answers = new Map<
    string,
    (answer: { readonly value: unknown; readonly by?: string }) => void
  >()
  const durable = createDurableExecution({
    id: begin.w,
    records,
    journal: segment,
    perform: host.perform,
    now: host.now,
    ask: (question, signal) =>
      new Promise((resolve, reject) => {
        answers.set(question.id, resolve)
        signal.addEventListener('abort', () => answers.delete(question.id))
        if (host.answer)
          askHost(host.answer, question, signal).then((value) => {
            if (value !== undefined) resolve({ value, by: 'answer' })
          }, reject)
      }),
  })
  const run = async (): Promise<Execution> => {
    segment.live += 1
    try {
      const settled = await interpretWorkflow(definition, begin.i, durable.context)
      const { end, line } = createEndRecord(begin.w, settled, new Date(host.now()).toISOString())
      const position = segment.appendLine(line)
      isOver = true
      segment.note(position, begin, end)
      crashPoint('execution.ended')
      await segment.synced(position)
      return toFinishedExecution(begin, end)
    } finally {
      segment.live -= 1
      onOver()
    }
  }
  return {
    begin,
    done: run(),
    async cancel(reason) {
      if (isOver) throw createOverError(begin.w)
      durable.cancel(reason)
      await segment.synced()
    },
    async answer(id, value, by) {
      const resolve = answers.get(id)
      if (!resolve || !durable.questions.some((question) => question.id === id))
        throw new ToolError('NOT_FOUND', `${begin.w} has no open question '${id}'`, {
          suggestion: `Open questions: ${durable.questions.map((question) => question.id).join(', ') || 'none'}`,
        })
      answers.delete(id)
      resolve({ value, ...compact({ by }) })
      // The record is queued when the promise of the question has passed it on.
      await new Promise<void>((next) => {
        setImmediate(next)
      })
      await segment.synced()
    },
    show: () => toOpenExecution(begin, durable.questions),
    stop: (error) => durable.stop(error),
  }
}

async function askHost(
  answer: Answerer,
  question: WorkflowQuestion,
  signal: AbortSignal,
): Promise<unknown> {
  return answer(question, signal)
}
