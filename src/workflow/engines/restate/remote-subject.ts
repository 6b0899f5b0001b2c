import { ToolError } from '../../../contract/tool-error.ts'
import type { StartSubject, Subject, SubjectEnd } from '../../../runner/attempt/subject.ts'
import type { RunPaths } from '../../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../../runner/run-request.ts'
import type { Workflow } from '../../definition/workflow-type.ts'
import { endLine } from '../../run/end-line.ts'
import { openInquiry } from '../../run/inquiry.ts'
import { settleThrown } from '../../steps/step-error.ts'
import type { Execution, Settled } from '../engine-type.ts'
import { sleep } from './ask-server.ts'
import { restateEngine } from './engine.ts'
import type { RestateEngine } from './engine.ts'
import { forwardQuestions } from './forward-questions.ts'
import { tellTasks } from './tell-tasks.ts'

const QUICKEST_LOOK = 200
const SLOWEST_LOOK = 2_000

export type RemoteRun = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly now: () => number
}

/** The engine at a server that a request names. */
export function openServer(
  server: NonNullable<NonNullable<RunRequest['workflow']>['server']>,
  { now }: { readonly now: () => number },
): RestateEngine {
  return restateEngine({ ...server, now })
}

/** A workflow that workers execute, as what a run here supervises: it is started where it is not yet, followed, and told about; answers and cancellation are passed on. Losing the server, or this process, ends nothing there: whoever resumes the run follows it again. */
export function remoteSubject({ paths, request, now }: RemoteRun): StartSubject {
  return async (listener): Promise<Subject> => {
    const { definition, server } = request.workflow!
    const workflow = definition as unknown as Workflow
    const id = request.run_id
    const engine = openServer(server!, { now })
    const inquiry = openInquiry(listener)
    const leaving = new AbortController()
    const questions = forwardQuestions({
      id,
      engine,
      inquiry,
      onUnanswered: (error) => leaving.abort(error),
    })
    listener.onLine({ type: 'start', step: workflow.name, args: request.input ?? {} })

    const follow = async (done: Promise<Execution>): Promise<Settled> => {
      const over = new AbortController()
      const watching = watch(
        engine,
        id,
        await tellTasks(paths, listener),
        questions,
        AbortSignal.any([over.signal, leaving.signal]),
      )
      try {
        return settle(await Promise.race([done, left(leaving.signal)]))
      } catch (error) {
        throw stillThere(error, id)
      } finally {
        over.abort()
        await watching
      }
    }
    const work = async (): Promise<SubjectEnd> => {
      const settled = await engine
        .start(workflow, request.input ?? {}, { id })
        .then(({ done }) => follow(done))
        .catch(settleThrown)
      questions.close()
      await engine.close()
      listener.onLine(endLine(settled))
      return {
        child: { reason: 'exited', status: settled.ok ? 0 : null, signal: null },
        speaksProtocol: true,
        stdout: Buffer.alloc(0),
        stderr: '',
      }
    }
    return {
      pid: undefined,
      trusted: true,
      answer: inquiry.answer,
      declined: inquiry.decline,
      hangUp: () => undefined,
      stop(_grace, why) {
        if (why.why === 'cancelled' || why.why === 'deadline') {
          const reason =
            why.why === 'cancelled' ? why.reason : `it took longer than ${why.seconds} seconds`
          engine.cancel(id, reason).catch((error: unknown) => {
            if (!isOver(error)) leaving.abort(error)
          })
        } else
          leaving.abort(
            why.why === 'failure' ? why.error : new ToolError('INTERNAL', 'the run was ended'),
          )
      },
      end: work(),
    }
  }
}

// Looks less and less often while nothing happens, and once more when it is over.
async function watch(
  engine: RestateEngine,
  id: string,
  tasks: Awaited<ReturnType<typeof tellTasks>>,
  questions: ReturnType<typeof forwardQuestions>,
  signal: AbortSignal,
): Promise<void> {
  for (let pause = QUICKEST_LOOK; ; pause = Math.min(pause * 1.5, SLOWEST_LOOK)) {
    const isLast = signal.aborted
    try {
      const standing = await engine.standing(id, tasks.seen)
      if (standing) {
        if (tasks.tell(standing.tasks)) pause = QUICKEST_LOOK
        questions.hear(standing.questions)
      }
    } catch {
      // Whoever waits for the end notices when the server stays away.
    }
    if (isLast) return
    await sleep(pause, signal).catch(() => undefined)
  }
}

function left(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}

function settle({ state, result, error }: Execution): Settled {
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

function stillThere(error: unknown, id: string): unknown {
  if (!ToolError.is(error) || error.code !== 'DEPENDENCY') return error
  return new ToolError(
    'DEPENDENCY',
    `${error.message}; the workflow ${id} is safe there, and goes on with its server`,
    { suggestion: `toolable resume ${id}`, cause: error },
  )
}

function isOver(error: unknown): boolean {
  return ToolError.is(error) && (error.code === 'CONFLICT' || error.code === 'CANCELLED')
}
