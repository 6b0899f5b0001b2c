import type { JsonObject } from '../../contract/json.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import type { Subject, SubjectListener } from '../../runner/attempt/subject.ts'
import type { Question } from '../../runner/interactions/read-question.ts'
import type { WorkflowQuestion } from '../engines/engine-type.ts'

/** The questions of a workflow, asked through its run. */
export type Inquiry = Required<Pick<Subject, 'answer'>> & {
  /** Rejects where nobody answers. */
  ask(
    question: Question,
    signal: AbortSignal,
    context?: JsonObject,
  ): Promise<{ readonly value: unknown; readonly by: string }>
  /** The same for a question of the workflow itself, whose time the interpreter keeps. */
  askOwn(
    question: WorkflowQuestion,
    signal: AbortSignal,
  ): Promise<{ readonly value: unknown; readonly by: string }>
  decline(id: string, error: ToolError): void
  /** The workflow is left as it is: what it asks stays open for its next attempt, though nobody waits here any more. */
  leave(): void
}

type Waiting = {
  readonly resolve: (answer: { readonly value: unknown; readonly by: string }) => void
  readonly reject: (error: unknown) => void
}

/** Opens the questions of one attempt. A question that nobody waits for any more is withdrawn. */
export function openInquiry(
  listener: Pick<SubjectListener, 'onQuestion' | 'onWithdrawn'>,
): Inquiry {
  const waiting = new Map<string, Waiting>()
  let isLeft = false
  const ask: Inquiry['ask'] = (question, signal, context) =>
    new Promise((resolve, reject) => {
      const settle = (): void => {
        signal.removeEventListener('abort', withdraw)
        waiting.delete(question.id)
      }
      const withdraw = (): void => {
        settle()
        if (!isLeft) listener.onWithdrawn(question.id)
        reject(signal.reason as Error)
      }
      if (signal.aborted) return reject(signal.reason as Error)
      signal.addEventListener('abort', withdraw, { once: true })
      waiting.set(question.id, {
        resolve: (answer) => (settle(), resolve(answer)),
        reject: (error) => (settle(), reject(error)),
      })
      listener.onQuestion(question, context)
    })
  return {
    ask,
    askOwn({ timeout, context, ...question }, signal) {
      return ask(question, signal, { ...context, ...(timeout !== undefined && { timeout }) })
    },
    answer: ({ id, value, by }) => waiting.get(String(id))?.resolve({ value, by: String(by) }),
    decline: (id, error) => waiting.get(id)?.reject(error),
    leave: () => void (isLeft = true),
  }
}
