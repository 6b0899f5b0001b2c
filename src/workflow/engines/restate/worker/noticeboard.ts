import type { Operation, Settled, WorkflowQuestion } from '../../engine-type.ts'
import type { RestateContext } from '../sdk-type.ts'
import { STATE } from '../wire.ts'
import type { ExecutionInfo, RunAnswer, TaskRecord } from '../wire.ts'

/** Keeps, where everybody may look, what an execution asks and does. It decides nothing. */
export class Noticeboard {
  private readonly context: RestateContext
  private readonly open = new Map<string, WorkflowQuestion>()
  private changes = 0

  constructor(context: RestateContext) {
    this.context = context
  }

  /** Something was begun. */
  begin(operation: Operation): void {
    if (operation.kind === 'answer') this.ask(operation.question)
    if (operation.kind === 'tool')
      this.note({ task: operation.key, call: operation.call, status: 'running' })
  }

  /** It ended, or nobody waits for it any more. */
  end(operation: Operation, settled: Settled): void {
    if (operation.kind === 'answer' && this.open.delete(operation.question.id))
      this.context.set(STATE.questions, [...this.open.values()])
    if (operation.kind !== 'tool') return
    const { key: task, call } = operation
    if (settled.ok)
      this.note({
        task,
        call,
        status: 'ok',
        ...(settled.run_id !== undefined && { run_id: settled.run_id }),
      })
    else
      this.note({
        task,
        call,
        status: 'failed',
        error: settled.error,
        ...(settled.error.run_id !== undefined && { run_id: settled.error.run_id }),
      })
  }

  private ask(question: WorkflowQuestion): void {
    this.open.set(question.id, question)
    this.context.set(STATE.questions, [...this.open.values()])
  }

  private note(task: Omit<TaskRecord, 'change'>): void {
    this.context.set(`${STATE.task}${task.task}`, {
      ...task,
      change: (this.changes += 1),
    } satisfies TaskRecord)
  }
}

/** Says which execution this is. */
export function noteBegin(context: RestateContext, info: ExecutionInfo): void {
  context.set(STATE.info, info)
}

/** Says how it ended. */
export function noteEnd(context: RestateContext, { state, settled }: RunAnswer): void {
  context.set(STATE.end, state)
  if (!settled.ok) context.set(STATE.error, settled.error)
}
