import { join } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { crashPoint } from '../../process/crash-point.ts'
import type { Registry } from '../../registry/registry-type.ts'
import type { Intervention } from '../../runner/attempt/ending/intervention.ts'
import type { StartSubject, Subject, SubjectEnd } from '../../runner/attempt/subject.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import type { Workflow } from '../definition/workflow-type.ts'
import { createDurableContext } from '../engines/embedded/durable-context.ts'
import type { Journal } from '../engines/embedded/journal/open-journal.ts'
import { openJournal } from '../engines/embedded/journal/open-journal.ts'
import type { PerformTool, Settled } from '../engines/engine-type.ts'
import { interpret } from '../interpret/interpret.ts'
import { createPerformTool } from '../steps/perform-tool.ts'
import { settleThrown } from '../steps/step-error.ts'
import { beginExecution, endExecution, findEnd } from './execution-records.ts'
import { endLine } from './end-line.ts'
import { openInquiry } from './inquiry.ts'
import { narrate } from './narrate.ts'
import { JOURNAL } from './read-run-journal.ts'

export type WorkflowRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly registry: Pick<Registry, 'find' | 'call' | 'describe' | 'prepare'>
  readonly env: { readonly [name: string]: string | undefined }
  readonly now: () => number
}

/** A workflow as what a run supervises: it goes on from its journal, asks through the run, and tells in the lines of the protocol what happens. Cancelled, it takes back what it did before it ends; where the record or the journal breaks, or its process is ended, it stops as it is, for whoever resumes it: what it had begun is told neither as done nor as failed. */
export function workflowSubject({ paths, request, registry, env, now }: WorkflowRun): StartSubject {
  return async (listener): Promise<Subject> => {
    const workflow = request.workflow!.definition as unknown as Workflow
    const input = request.input ?? {}
    const journal = await openJournal(join(paths.folder, JOURNAL))
    const inquiry = openInquiry(listener)
    const tell = narrate(workflow, listener)
    const working = new Set<Promise<unknown>>()
    let why: Intervention | undefined
    let isLeft = false
    const perform = createPerformTool({
      registry,
      runsFolder: join(paths.folder, '..'),
      cwd: request.cwd,
      env,
      leavesUnanswered: true,
      traceparent: request.traceparent,
      startWorkflow: (inner, asked) =>
        workflowSubject({ paths: inner, request: asked, registry, env, now }),
      tell: (line) => (isLeft ? undefined : (listener.onLine(line), listener.room())),
      ask: ({ question, context }, signal) =>
        inquiry.ask(question, signal, context).catch(() => undefined),
    })
    const durable = createDurableContext({
      id: request.run_id,
      records: journal.records,
      journal,
      perform: tracked(perform, working),
      ask: (question, signal) => inquiry.askOwn(question, signal),
      now,
      tell: tell.event,
    })
    const work = async (): Promise<SubjectEnd> => {
      const settled = await execute().catch((error: unknown) => settleThrown(error))
      // Nothing that it started outlives it.
      await Promise.allSettled(working)
      await journal.close().catch(() => undefined)
      if (!isLeft || settled.ok) listener.onLine(endLine(settled))
      return {
        child: {
          reason: why && why.why !== 'cancelled' && !settled.ok ? 'cancelled' : 'exited',
          status: settled.ok ? 0 : null,
          signal: null,
        },
        speaksProtocol: true,
        stdout: Buffer.alloc(0),
        stderr: '',
      }
    }
    const execute = async (): Promise<Settled> => {
      const before = findEnd(journal.records, request.run_id)
      if (before) return before
      if (journal.records.length === 0) beginExecution(journal, request, now)
      const settled = await interpret(workflow, input, durable.context)
      return keepEnd(journal, request.run_id, settled, now)
    }
    listener.onLine({ type: 'start', step: workflow.name, args: input })
    tell.resumed(journal.records)
    return {
      pid: undefined,
      trusted: true,
      answer: inquiry.answer,
      declined: inquiry.decline,
      hangUp: () => undefined,
      stop(_grace, intervention) {
        why = intervention
        if (intervention.why === 'cancelled') durable.cancel(intervention.reason)
        else if (intervention.why === 'deadline')
          durable.cancel(`it took longer than ${intervention.seconds} seconds`)
        else {
          isLeft = true
          inquiry.leave()
          durable.stop(
            intervention.why === 'failure'
              ? intervention.error
              : new ToolError('INTERNAL', 'the run was ended'),
          )
        }
      },
      end: work(),
    }
  }
}

function tracked(perform: PerformTool, working: Set<Promise<unknown>>): PerformTool {
  return (call, signal) => {
    const performed = perform(call, signal)
    working.add(performed)
    const forget = (): void => void working.delete(performed)
    performed.then(forget, forget)
    return performed
  }
}

// An end that is not on the disk would be another one after a restart.
async function keepEnd(
  journal: Journal,
  id: string,
  settled: Settled,
  now: () => number,
): Promise<Settled> {
  const kept = endExecution(journal, id, settled, now)
  await journal.synced()
  crashPoint('execution.ended')
  return kept
}
