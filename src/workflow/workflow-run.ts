/**
 * A workflow as the target of a run: continues from its journal, asks through the run, and reports
 * its steps as events.
 */

import { join } from 'node:path'
import { crashPoint } from '../process/host.ts'
import type { Registry } from '../registry/types.ts'
import type { RunRequest } from '../runner/request.ts'
import type { RunPaths } from '../runner/run-paths.ts'
import type { RunTarget, RunTargetEnd, StartRunTarget, StopReason } from '../runner/run-target.ts'
import type { Workflow } from './definition/model.ts'
import { createDurableExecution } from './embedded/durable-context.ts'
import type { Journal } from './embedded/journal.ts'
import { openJournal } from './embedded/journal.ts'
import type { OperationOutcome, PerformTool } from './engine.ts'
import { interpretWorkflow } from './interpreter.ts'
import { createPerformTool } from './perform-tool.ts'
import {
  createQuestionRegistry,
  getStopCause,
  reportSteps,
  toFinalLine,
  toRunTargetEnd,
} from './run-protocol.ts'
import { appendBegin, appendEnd, findRecordedOutcome, JOURNAL_FILE_NAME } from './run-record.ts'
import { toFailureOutcome } from './step-host.ts'

export type WorkflowTargetOptions = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly registry: Pick<Registry, 'find' | 'call' | 'describe' | 'prepare'>
  readonly env: { readonly [name: string]: string | undefined }
  readonly now: () => number
}

/**
 * A workflow as the target of a run: it continues from its journal, asks through the run, and
 * reports what happens in the lines of the protocol. When it is cancelled, it runs its
 * compensations before it ends. When the record or the journal breaks, or its process ends, it
 * stops as it is, and a resume continues it: operations that had begun are reported neither as done
 * nor as failed.
 */
export function createWorkflowTarget({
  paths,
  request,
  registry,
  env,
  now,
}: WorkflowTargetOptions): StartRunTarget {
  return async (listener): Promise<RunTarget> => {
    const workflow = request.workflow!.definition as unknown as Workflow
    const input = request.input ?? {}
    const journal = await openJournal(join(paths.folder, JOURNAL_FILE_NAME))
    const questions = createQuestionRegistry(listener)
    const reporter = reportSteps(workflow, listener)
    const working = new Set<Promise<unknown>>()
    let why: StopReason | undefined
    let isLeft = false
    const perform = createPerformTool({
      registry,
      runsFolder: join(paths.folder, '..'),
      cwd: request.cwd,
      env,
      leavesUnanswered: true,
      traceparent: request.traceparent,
      startWorkflow: (inner, asked) =>
        createWorkflowTarget({ paths: inner, request: asked, registry, env, now }),
      emit: (line) => (isLeft ? undefined : (listener.onLine(line), listener.waitForDrain())),
      ask: ({ question, context }, signal) =>
        questions.ask(question, signal, context).catch(() => undefined),
    })
    const durable = createDurableExecution({
      id: request.run_id,
      records: journal.records,
      journal,
      perform: trackCalls(perform, working),
      ask: (question, signal) => questions.askWorkflowQuestion(question, signal),
      now,
      onEvent: reporter.event,
    })
    const work = async (): Promise<RunTargetEnd> => {
      const settled = await execute().catch((error: unknown) => toFailureOutcome(error))
      // Nothing that it started outlives it.
      await Promise.allSettled(working)
      await journal.close().catch(() => undefined)
      if (!isLeft || settled.ok) listener.onLine(toFinalLine(settled))
      const isStopped = why !== undefined && why.kind !== 'cancelled' && !settled.ok
      return toRunTargetEnd(settled, isStopped ? 'cancelled' : 'exited')
    }
    const execute = async (): Promise<OperationOutcome> => {
      const before = findRecordedOutcome(journal.records, request.run_id)
      if (before) return before
      if (journal.records.length === 0) appendBegin(journal, request, now)
      const settled = await interpretWorkflow(workflow, input, durable.context)
      return recordEnd(journal, request.run_id, settled, now)
    }
    listener.onLine({ type: 'start', step: workflow.name, args: input })
    reporter.resumed(journal.records)
    return {
      pid: undefined,
      isTrusted: true,
      answer: questions.answer,
      onUnanswered: questions.decline,
      closeInput: () => undefined,
      stop(_grace, intervention) {
        why = intervention
        const cause = getStopCause(intervention)
        if (typeof cause === 'string') return durable.cancel(cause)
        isLeft = true
        questions.keepOpen()
        durable.stop(cause)
      },
      end: work(),
    }
  }
}

function trackCalls(perform: PerformTool, working: Set<Promise<unknown>>): PerformTool {
  return (call, signal) => {
    const performed = perform(call, signal)
    working.add(performed)
    const forget = (): void => void working.delete(performed)
    performed.then(forget, forget)
    return performed
  }
}

// An end that is not on the disk would be another one after a restart.
async function recordEnd(
  journal: Journal,
  id: string,
  settled: OperationOutcome,
  now: () => number,
): Promise<OperationOutcome> {
  const kept = appendEnd(journal, id, settled, now)
  await journal.synced()
  crashPoint('execution.ended')
  return kept
}
