import { protocolName } from '../../contract/errors.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { replyTo } from '../../registry/child/protocol/reply.ts'
import type { Broker } from '../interactions/broker.ts'
import { givenId, readQuestion } from '../interactions/read-question.ts'
import type { Question } from '../interactions/read-question.ts'
import type { EventLog } from '../log/event-log.ts'
import type { RunClock } from './clock.ts'
import type { ToolLine } from '../output/judge-line.ts'
import type { Subject } from './subject.ts'

/** So many questions may be open at the same time. */
const MOST_OPEN = 100

/** The questions of one attempt. */
export type Questions = {
  /** Puts a question on record and has it answered; time stands still for the tool meanwhile. `asked` is the question where it need not be read from the line. */
  ask(line: ToolLine, asked?: Question): Promise<void>
  /** Stops asking a question. */
  withdraw(id: string): void
  /** Why the last question that nobody answered was not. */
  unanswered(): ToolError | undefined
}

export type QuestionsOptions = {
  readonly log: EventLog
  readonly broker: Broker
  readonly clock: RunClock
  readonly attempt: number
  /** Aborted when the attempt is over. */
  readonly over: AbortSignal
  readonly subject: () => Subject | undefined
  /** Whether the runner is ending the tool. */
  readonly isStopped: () => boolean
}

/** Has the questions of a tool answered, whoever answers. */
export function answerQuestions({
  log,
  broker,
  clock,
  attempt,
  over,
  subject,
  isStopped,
}: QuestionsOptions): Questions {
  let open = 0
  let asked = 0
  let unanswered: ToolError | undefined
  const known = new Set<string>()
  const asking = new Map<string, AbortController>()
  const refuse = (reason: string, msg: string, line: ToolLine): void =>
    void log.append({ type: 'diagnostic', stream: 'stdout', reason, msg, refused: line })
  // An answer to one question may not become that to another one, whatever the tool calls them.
  const read = (line: ToolLine): Question => {
    const question = readQuestion(line, `${attempt}-${(asked += 1)}`)
    const id = known.has(question.id) ? `${question.id}-${asked}` : question.id
    known.add(id)
    return { ...question, id }
  }
  return {
    unanswered: () => unanswered,
    withdraw: (id) => asking.get(id)?.abort(),
    async ask(line, asked) {
      if (!asked && open >= MOST_OPEN)
        return refuse('too_many_questions', `${open} questions are open already`, line)
      if (unanswered)
        return refuse(
          'unanswerable',
          'nobody answered an earlier question, and stdin of the tool is closed since',
          line,
        )
      const question = asked ?? read(line)
      log.append({ ...line, interaction: question })
      const withdrawn = new AbortController()
      asking.set(question.id, withdrawn)
      open += 1
      clock.pause()
      try {
        await log.flush()
        const { value, by, note } = await broker.ask(
          question,
          AbortSignal.any([over, withdrawn.signal]),
          (who, problem) =>
            log.append({
              type: 'runner_warning',
              code: protocolName('INVALID_INPUT'),
              msg: `the answer of ${who} to '${question.id}' ${problem}`,
              question: question.id,
            }),
        )
        if (over.aborted) return
        log.append({
          type: 'runner_log',
          level: 'info',
          msg: `answered by ${by}`,
          answer: { id: question.id, by, value, ...(note !== undefined && { note }) },
        })
        subject()?.answer(
          asked
            ? { id: asked.id, value, by }
            : replyTo({ id: givenId(line), kind: question.kind }, value),
        )
      } catch (error) {
        if (over.aborted) return
        if (withdrawn.signal.aborted)
          return void log.append({
            type: 'runner_log',
            level: 'info',
            msg: 'nobody waits for the answer any more',
            answer: { id: question.id, withdrawn: true },
          })
        const failure = ToolError.is(error)
          ? error
          : new ToolError('INTERNAL', String(error), { cause: error })
        log.append({
          type: 'runner_warning',
          code: 'E_ANSWER_REQUIRED',
          msg: failure.message,
          question: question.id,
        })
        const { declined, hangUp } = subject() ?? {}
        if (declined) return declined(question.id, failure, failure.details?.['late'] === true)
        unanswered = failure
        hangUp?.()
      } finally {
        asking.delete(question.id)
        open -= 1
        if (open === 0 && !isStopped()) clock.goOn()
      }
    },
  }
}
