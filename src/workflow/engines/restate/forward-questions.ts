import { ToolError } from '../../../contract/tool-error.ts'
import type { Inquiry } from '../../run/inquiry.ts'
import type { WorkflowQuestion } from '../engine-type.ts'
import type { RestateEngine } from './engine.ts'

/** Asks here what an execution elsewhere asks. */
export type QuestionForwarder = {
  /** These are open now. */ hear(open: readonly WorkflowQuestion[]): void
  close(): void
}

type Forwarding = {
  readonly id: string
  readonly engine: RestateEngine
  readonly inquiry: Inquiry
  /** Nobody here answers: the question stays open there. */ readonly onUnanswered: (
    error: unknown,
  ) => void
}

/** Asks each question once, passes its answer on, and withdraws it when somebody else has answered. */
export function forwardQuestions({
  id,
  engine,
  inquiry,
  onUnanswered,
}: Forwarding): QuestionForwarder {
  const asked = new Map<string, AbortController>()
  const ask = async (question: WorkflowQuestion, controller: AbortController): Promise<void> => {
    let answer: { readonly value: unknown; readonly by: string }
    try {
      answer = await inquiry.askOwn(question, controller.signal)
    } catch (error) {
      if (!controller.signal.aborted) onUnanswered(error)
      return
    }
    try {
      await engine.answer(id, question.id, answer.value, answer.by)
    } catch (error) {
      // Somebody was quicker; then that answer counts.
      if (!ToolError.is(error) || !['CONFLICT', 'NOT_FOUND', 'CANCELLED'].includes(error.code))
        onUnanswered(error)
    }
  }
  return {
    hear(open) {
      for (const question of open) {
        if (asked.has(question.id)) continue
        const controller = new AbortController()
        asked.set(question.id, controller)
        void ask(question, controller)
      }
      for (const [question, controller] of asked) {
        if (open.some((one) => one.id === question)) continue
        controller.abort(new ToolError('CANCELLED', 'somebody else has answered'))
        // The same may be asked once more, by another try.
        asked.delete(question)
      }
    },
    close() {
      for (const controller of asked.values())
        controller.abort(new ToolError('CANCELLED', 'the workflow is over'))
    },
  }
}
