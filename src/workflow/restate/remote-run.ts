/**
 * A workflow that Restate workers execute, as the target of a run here: started, followed, and its
 * questions forwarded.
 */

import { ToolError } from '../../protocol/tool-error.ts'
import { readEventBatches } from '../../runner/log-reader.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import type {
  RunTarget,
  RunTargetEnd,
  RunTargetListener,
  StartRunTarget,
} from '../../runner/run-target.ts'
import type { ToolLine } from '../../runner/tool-output.ts'
import { delay } from '../../util/async.ts'
import { compact } from '../../util/values.ts'
import type { Workflow } from '../definition/model.ts'
import type { Execution, OperationOutcome, WorkflowQuestion } from '../engine.ts'
import type { QuestionRegistry } from '../run-protocol.ts'
import {
  createQuestionRegistry,
  getStopCause,
  toFinalLine,
  toRunTargetEnd,
} from '../run-protocol.ts'
import { getTaskPayload, toFailureOutcome } from '../step-host.ts'
import type { RestateEngine } from './restate-engine.ts'
import { createRestateEngine } from './restate-engine.ts'
import type { TaskRecord } from './wire.ts'

const MIN_POLL_MS = 200
const MAX_POLL_MS = 2_000

export type RemoteRunOptions = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly now: () => number
}

/** The engine at a server that a request names. */
export function openRestateEngine(
  server: NonNullable<NonNullable<RunRequest['workflow']>['server']>,
  { now }: { readonly now: () => number },
): RestateEngine {
  return createRestateEngine({ ...server, now })
}

/**
 * A workflow that workers execute, as the target of a run here: it is started unless it runs
 * already, followed and reported; answers and cancellation are forwarded. Losing the server, or
 * this process, ends nothing there: a resume follows it again.
 */
export function createRemoteTarget({ paths, request, now }: RemoteRunOptions): StartRunTarget {
  return async (listener): Promise<RunTarget> => {
    const { definition, server } = request.workflow!
    const workflow = definition as unknown as Workflow
    const id = request.run_id
    const engine = openRestateEngine(server!, { now })
    const registry = createQuestionRegistry(listener)
    const leaving = new AbortController()
    const questions = createQuestionForwarder({
      id,
      engine,
      registry,
      onUnanswered: (error) => leaving.abort(error),
    })
    listener.onLine({ type: 'start', step: workflow.name, args: request.input ?? {} })

    const follow = async (done: Promise<Execution>): Promise<OperationOutcome> => {
      const over = new AbortController()
      const watching = watchExecution(
        engine,
        id,
        await createTaskReporter(paths, listener),
        questions,
        AbortSignal.any([over.signal, leaving.signal]),
      )
      try {
        return toExecutionOutcome(await Promise.race([done, rejectOnAbort(leaving.signal)]))
      } catch (error) {
        throw toResumableError(error, id)
      } finally {
        over.abort()
        await watching
      }
    }
    const work = async (): Promise<RunTargetEnd> => {
      const settled = await engine
        .start(workflow, request.input ?? {}, { id })
        .then(({ done }) => follow(done))
        .catch(toFailureOutcome)
      questions.close()
      await engine.close()
      listener.onLine(toFinalLine(settled))
      return toRunTargetEnd(settled)
    }
    return {
      pid: undefined,
      isTrusted: true,
      answer: registry.answer,
      onUnanswered: registry.decline,
      closeInput: () => undefined,
      stop(_grace, why) {
        const cause = getStopCause(why)
        if (typeof cause !== 'string') return leaving.abort(cause)
        engine.cancel(id, cause).catch((error: unknown) => {
          if (!isOverError(error)) leaving.abort(error)
        })
      },
      end: work(),
    }
  }
}

// Polls less and less often while nothing happens, and once more when it is over.
async function watchExecution(
  engine: RestateEngine,
  id: string,
  tasks: Awaited<ReturnType<typeof createTaskReporter>>,
  questions: ReturnType<typeof createQuestionForwarder>,
  signal: AbortSignal,
): Promise<void> {
  for (let pause = MIN_POLL_MS; ; pause = Math.min(pause * 1.5, MAX_POLL_MS)) {
    const isLast = signal.aborted
    try {
      const standing = await engine.standing(id, tasks.seen)
      if (standing) {
        if (tasks.report(standing.tasks)) pause = MIN_POLL_MS
        questions.update(standing.questions)
      }
    } catch {
      // The wait for the end fails when the server stays away.
    }
    if (isLast) return
    await delay(pause, signal)
  }
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

function toExecutionOutcome({ state, result, error }: Execution): OperationOutcome {
  if (state === 'completed') return { ok: true, value: result ?? null }
  return {
    ok: false,
    error: error ?? {
      code: 'INTERNAL',
      message: 'the server says nothing about its end',
      retryable: false,
    },
  }
}

function toResumableError(error: unknown, id: string): unknown {
  if (!ToolError.is(error) || error.code !== 'DEPENDENCY') return error
  return new ToolError(
    'DEPENDENCY',
    `${error.message}; the workflow ${id} is safe there, and goes on with its server`,
    { suggestion: `toolable resume ${id}`, cause: error },
  )
}

function isOverError(error: unknown): boolean {
  return ToolError.is(error) && (error.code === 'CONFLICT' || error.code === 'CANCELLED')
}

/** Reports tasks that workers run. */
type TaskReporter = {
  /** The last change that was reported. */
  readonly seen: number
  /** True if there was something to report. */
  report(tasks: readonly TaskRecord[]): boolean
}

/**
 * Reports everything about a task once, in the lines of the run protocol: what an earlier attempt
 * reported is on record.
 */
async function createTaskReporter(
  { events }: RunPaths,
  listener: Pick<RunTargetListener, 'onLine'>,
): Promise<TaskReporter> {
  const reported = new Set<string>()
  for await (const batch of readEventBatches(events))
    for (const event of batch) if (event.type.startsWith('task_')) reported.add(getLineKey(event))
  let seen = 0
  const report = (line: ToolLine): void => {
    if (reported.has(getLineKey(line))) return
    reported.add(getLineKey(line))
    listener.onLine(line)
  }
  return {
    get seen() {
      return seen
    },
    report(tasks) {
      for (const record of tasks) {
        for (const line of toTaskLines(record)) report(line)
        seen = Math.max(seen, record.change)
      }
      return tasks.length > 0
    },
  }
}

function toTaskLines({ task, call, status, run_id, error }: TaskRecord): readonly ToolLine[] {
  const child = run_id === undefined ? {} : { child_run_id: run_id }
  const begun: ToolLine[] = [
    { type: 'task_submitted', task_id: task, payload: getTaskPayload(call) },
    { type: 'task_started', task_id: task },
  ]
  return status === 'running'
    ? begun
    : [
        ...begun,
        {
          type: 'task_done',
          task_id: task,
          ...child,
          status,
          ...compact({ child_result: error ? { status: 'error', error } : undefined }),
        },
      ]
}

function getLineKey(line: { readonly type: string; readonly [field: string]: unknown }): string {
  return `${line.type} ${String(line['task_id'])}`
}

/** Asks here what an execution elsewhere asks. */
type QuestionForwarder = {
  /** Updates the open questions. */
  update(open: readonly WorkflowQuestion[]): void
  close(): void
}

type QuestionForwarderOptions = {
  readonly id: string
  readonly engine: RestateEngine
  readonly registry: QuestionRegistry
  /** There is no answer here; the question stays open there. */
  readonly onUnanswered: (error: unknown) => void
}

/**
 * Asks each question once, forwards its answer, and withdraws it when it was answered elsewhere.
 */
function createQuestionForwarder({
  id,
  engine,
  registry,
  onUnanswered,
}: QuestionForwarderOptions): QuestionForwarder {
  const asked = new Map<string, AbortController>()
  const ask = async (question: WorkflowQuestion, controller: AbortController): Promise<void> => {
    let answer: { readonly value: unknown; readonly by: string }
    try {
      answer = await registry.askWorkflowQuestion(question, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) onUnanswered(error)
      return
    }
    try {
      await engine.answer(id, question.id, answer.value, answer.by)
    } catch (error) {
      // Another answer was faster, and counts.
      if (!ToolError.is(error) || !['CONFLICT', 'NOT_FOUND', 'CANCELLED'].includes(error.code))
        onUnanswered(error)
    }
  }
  return {
    update(open) {
      for (const question of open) {
        if (asked.has(question.id)) continue
        const controller = new AbortController()
        asked.set(question.id, controller)
        void ask(question, controller)
      }
      for (const [question, controller] of asked) {
        if (open.some((one) => one.id === question)) continue
        controller.abort(new ToolError('CANCELLED', 'somebody else has answered'))
        // Another attempt may ask the same again.
        asked.delete(question)
      }
    },
    close() {
      for (const controller of asked.values())
        controller.abort(new ToolError('CANCELLED', 'the workflow is over'))
    },
  }
}
