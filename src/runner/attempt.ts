/**
 * One attempt of a run, from `runner_start` to `runner_end`.
 *
 * The attempt starts its target, records what the target reports, gets its questions answered, and
 * stops it on a deadline, missing
 * heartbeats, too much output, cancellation or a failing log.
 */

import type { EgressConnection } from '../process/child.ts'
import { toProtocolCode } from '../protocol/errors.ts'
import { ToolError } from '../protocol/tool-error.ts'
import type { CallForm } from '../registry/child/child-call.ts'
import { buildAnswerLine } from '../registry/child/events.ts'
import { MEBIBYTE } from '../util/units.ts'
import type { JsonObject } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { AttemptClock } from './attempt-clock.ts'
import { startAttemptClock } from './attempt-clock.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import { determineOutcome, toFailedOutcome } from './attempt-outcome.ts'
import type { EventForwarder, EventLog } from './event-log.ts'
import type { QuestionBroker, RunQuestion } from './questions.ts'
import { getToolQuestionId, parseQuestion } from './questions.ts'
import type { RunTarget, RunTargetListener, StartRunTarget, StopReason } from './run-target.ts'
import type { ToolLine } from './tool-output.ts'
import { FINAL_EVENT_TYPES } from './tool-output.ts'

/**
 * Milliseconds that a tool has between the request to end and the kill, when its time is up anyway.
 */
const FINAL_GRACE_MS = 100
/** Bytes that may wait for the log before the tool is held back. */
const MAX_PENDING_LOG_CHARS = MEBIBYTE
/** So many connections are on record. */
const MAX_RECORDED_CONNECTIONS = 1000

/** One start of a tool, from `runner_start` to `runner_end`. */
export type AttemptOptions = {
  readonly log: EventLog
  /** Its number. */
  readonly attempt: number
  readonly start: StartRunTarget
  /** What `runner_start` says. */
  readonly about: JsonObject
  readonly broker: QuestionBroker
  /** Who looks on; one who is slow slows the tool down. */
  readonly forwarder: EventForwarder
  /** Seconds; undefined: as long as it takes. */
  readonly deadline: number | undefined
  readonly heartbeatGrace: number
  /**
   * Whether silence counts: from the start, from the first line of the protocol, or never, because
   * nobody could tell it.
   */
  readonly heartbeats: 'owed' | 'once-heard' | 'none'
  readonly form: CallForm | undefined
  readonly exitCodes: { readonly [meaning: string]: number } | undefined
  /** Milliseconds that a cancelled tool has to end by itself. */
  readonly grace: number
  /** Puts the cancel file where the tool looks for it. */
  readonly requestStop: () => void
  /** Aborted when the run is cancelled; its reason says by what. */
  readonly cancelled: AbortSignal
  /** Aborted when the log has lost something; its reason is the error. */
  readonly broken: AbortSignal
  /**
   * After the tree is dead, and before the end is recorded: hashes artifacts, puts outputs in their
   * place. May change the ending; a cancelled run is not kept waiting.
   */
  readonly settle: (ending: AttemptOutcome, cancelled: AbortSignal) => Promise<AttemptOutcome>
  /** Seconds until the next attempt, where there is one; recorded with the end. */
  readonly nextTry: (ending: AttemptOutcome) => number | undefined
}

/** How an attempt ended, and whether its end is in the log. */
export type AttemptResult = { readonly ending: AttemptOutcome; readonly recorded: boolean }

/** Runs a tool once, under watch, on record. Never throws: what goes wrong is an ending. */
export async function runAttempt(options: AttemptOptions): Promise<AttemptResult> {
  const { log, about, settle, nextTry } = options
  const began = performance.now()
  log.append({ type: 'runner_start', ...about })
  let ending: AttemptOutcome
  try {
    await log.flush()
    ending = await settle(await superviseTarget(options), options.cancelled)
  } catch (error) {
    ending = toFailedOutcome(error as Error)
  }
  for (const line of ending.lines) log.append(line)
  // A result that cannot be written is none: the end has to know.
  await log.flush().catch((error: unknown) => {
    ending = { ...toFailedOutcome(error as Error), again: false }
    for (const line of ending.lines) log.append(line)
  })
  const { state, rc, code } = ending
  const duration_s = Math.round(performance.now() - began) / 1000
  log.append(
    compact({ type: 'runner_end', state, rc, code, duration_s, retry_in_s: nextTry(ending) }),
  )
  try {
    await log.flush()
    return { ending, recorded: true }
  } catch (error) {
    return { ending: { ...toFailedOutcome(error as Error), again: false }, recorded: false }
  }
}

/** Puts an attempt on record that was refused before anything was started. */
export async function recordRefusal(
  log: EventLog,
  about: JsonObject,
  error: Error,
): Promise<AttemptResult> {
  const ending = { ...toFailedOutcome(error), again: false }
  const { state, rc, code } = ending
  log.append({ type: 'runner_start', ...about, refused: true })
  for (const line of ending.lines) log.append(line)
  log.append({ type: 'runner_end', state, rc, code, duration_s: 0 })
  await log.flush()
  return { ending, recorded: true }
}

async function superviseTarget(options: AttemptOptions): Promise<AttemptOutcome> {
  const {
    log,
    broker,
    forwarder: mirror,
    deadline,
    heartbeatGrace,
    form,
    exitCodes,
    grace,
    cancelled,
    broken,
  } = options
  let subject: RunTarget | undefined
  let intervention: StopReason | undefined
  let stopIt = (): void => undefined
  let last: ToolLine | undefined
  const over = new AbortController()

  const intervene = (why: StopReason, patience: number): void => {
    if (intervention) return
    intervention = why
    stopIt = () => subject?.stop(patience, why)
    clock.stop()
    options.requestStop()
    mirror.disableBackpressure()
    stopIt()
  }
  const fail = (error: unknown, patience = FINAL_GRACE_MS): void =>
    intervene({ kind: 'failure', error: toToolError(error) }, patience)
  const cancel = (): void => {
    const reason: unknown = cancelled.reason
    // The process is shutting down; the run itself is not cancelled.
    if (ToolError.is(reason) && reason.code === 'INTERRUPTED') return fail(reason, grace)
    intervene({ kind: 'cancelled', reason: getMessage(reason ?? 'cancelled') }, grace)
  }
  const clock = startAttemptClock({
    deadline,
    grace: heartbeatGrace,
    onDeadline: () => intervene({ kind: 'deadline', seconds: deadline ?? 0 }, FINAL_GRACE_MS),
    onSilence: () => intervene({ kind: 'heartbeat', seconds: heartbeatGrace }, FINAL_GRACE_MS),
  })
  if (options.heartbeats === 'owed') clock.requireHeartbeats()

  const failByLog = (): void => fail(broken.reason)
  let connections = 0
  const questions = createAttemptQuestions({
    log,
    broker,
    clock,
    attempt: options.attempt,
    over: over.signal,
    subject: () => subject,
    isStopped: () => intervention !== undefined,
  })

  const listener: RunTargetListener = {
    onLine(line, text) {
      clock.recordActivity()
      if (options.heartbeats !== 'none') clock.requireHeartbeats()
      if (last) return refuseLine(log, 'late', 'the run was over for the tool already', line)
      if (intervention && line.type === 'result' && !subject?.isTrusted)
        return refuseLine(log, 'late', 'the runner had ended the run already', line)
      if (FINAL_EVENT_TYPES.has(line.type)) last = line
      else if (line.type === 'action_required') void questions.ask(line).catch(fail)
      else log.append(line, text)
    },
    // A sign of life, but no promise of more: only who speaks the protocol owes heartbeats.
    onNotification(line) {
      clock.recordActivity()
      log.append(line)
    },
    onDoubt: (doubt) => void log.append({ type: 'diagnostic', ...doubt }),
    onPlain: (line) => void log.append({ type: 'log', level: 'info', msg: line }),
    onConnection(connection) {
      // A relay may report after the record of the attempt was closed.
      if (over.signal.aborted) return
      connections += 1
      if (connections <= MAX_RECORDED_CONNECTIONS)
        log.append({ type: 'runner_log', ...describeConnection(connection), connection })
      else if (connections === MAX_RECORDED_CONNECTIONS + 1)
        log.append({ type: 'runner_log', level: 'warn', msg: 'more connections are not recorded' })
    },
    onOutputLimit: (bytes) => intervene({ kind: 'output', bytes }, FINAL_GRACE_MS),
    onQuestion: (question, context) =>
      void questions
        .ask(
          {
            type: 'action_required',
            action: question.action,
            context: { prompt: question.prompt, ...context },
          },
          question,
        )
        .catch(fail),
    onWithdrawn: (question) => questions.withdraw(question),
    waitForDrain: () =>
      log.waiting < MAX_PENDING_LOG_CHARS ? mirror.waitForDrain() : log.flush().catch(fail),
  }

  cancelled.addEventListener('abort', cancel, { once: true })
  broken.addEventListener('abort', failByLog, { once: true })
  try {
    if (broken.aborted) failByLog()
    if (cancelled.aborted) cancel()
    if (!intervention) {
      subject = await options.start(listener)
      // Something may have happened while it started.
      stopIt()
    }
    const end = subject ? await subject.end : NEVER_STARTED
    const unanswered = questions.unanswered()
    if (unanswered && !intervention && last?.type !== 'result')
      intervention = { kind: 'failure', error: unanswered }
    return determineOutcome({ end, intervention, last, exitCodes, form })
  } finally {
    over.abort()
    clock.stop()
    cancelled.removeEventListener('abort', cancel)
    broken.removeEventListener('abort', failByLog)
  }
}

function describeConnection({ host, port, refused }: EgressConnection): {
  readonly level: 'info' | 'warn'
  readonly msg: string
} {
  if (refused === undefined) return { level: 'info', msg: `connected to ${host}:${port}` }
  return { level: 'warn', msg: `did not connect to ${host}:${port}: ${refused}` }
}

function refuseLine(log: EventLog, reason: string, msg: string, line: ToolLine): void {
  log.append({ type: 'diagnostic', stream: 'stdout', reason, msg, refused: line })
}

const NEVER_STARTED = {
  child: { reason: 'cancelled', status: null, signal: null },
  speaksProtocol: false,
  stdout: Buffer.alloc(0),
  stderr: '',
} as const

function getMessage(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem)
}

function toToolError(error: unknown): ToolError {
  if (ToolError.is(error)) return error
  return new ToolError('INTERNAL', getMessage(error), { cause: error })
}

/** This many questions may be open at the same time. */
const MAX_OPEN_QUESTIONS = 100

/** The questions of one attempt. */
type AttemptQuestions = {
  /**
   * Puts a question on record and has it answered; time stands still for the tool meanwhile.
   * `asked` is the question where it need not be read from the line.
   */
  ask(line: ToolLine, asked?: RunQuestion): Promise<void>
  /** Stops asking a question. */
  withdraw(id: string): void
  /** Why the last unanswered question was not answered. */
  unanswered(): ToolError | undefined
}

type AttemptQuestionsOptions = {
  readonly log: EventLog
  readonly broker: QuestionBroker
  readonly clock: AttemptClock
  readonly attempt: number
  /** Aborted when the attempt is over. */
  readonly over: AbortSignal
  readonly subject: () => RunTarget | undefined
  /** Whether the runner is ending the tool. */
  readonly isStopped: () => boolean
}

/** Gets the questions of a tool answered. */
function createAttemptQuestions({
  log,
  broker,
  clock,
  attempt,
  over,
  subject,
  isStopped,
}: AttemptQuestionsOptions): AttemptQuestions {
  let open = 0
  let asked = 0
  let unanswered: ToolError | undefined
  const known = new Set<string>()
  const asking = new Map<string, AbortController>()
  // An answer to one question may not become that to another one, whatever the tool calls them.
  const read = (line: ToolLine): RunQuestion => {
    const question = parseQuestion(line, `${attempt}-${(asked += 1)}`)
    const id = known.has(question.id) ? `${question.id}-${asked}` : question.id
    known.add(id)
    return { ...question, id }
  }
  return {
    unanswered: () => unanswered,
    withdraw: (id) => asking.get(id)?.abort(),
    async ask(line, asked) {
      if (!asked && open >= MAX_OPEN_QUESTIONS)
        return refuseLine(log, 'too_many_questions', `${open} questions are open already`, line)
      if (unanswered)
        return refuseLine(
          log,
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
              code: toProtocolCode('INVALID_INPUT'),
              msg: `the answer of ${who} to '${question.id}' ${problem}`,
              question: question.id,
            }),
        )
        if (over.aborted) return
        log.append({
          type: 'runner_log',
          level: 'info',
          msg: `answered by ${by}`,
          answer: { id: question.id, by, value, ...compact({ note }) },
        })
        subject()?.answer(
          asked
            ? { id: asked.id, value, by }
            : buildAnswerLine({ id: getToolQuestionId(line), kind: question.kind }, value),
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
        const failure = toToolError(error)
        log.append({
          type: 'runner_warning',
          code: 'E_ANSWER_REQUIRED',
          msg: failure.message,
          question: question.id,
        })
        const { onUnanswered: declined, closeInput: hangUp } = subject() ?? {}
        if (declined) return declined(question.id, failure, failure.details?.['late'] === true)
        unanswered = failure
        hangUp?.()
      } finally {
        asking.delete(question.id)
        open -= 1
        if (open === 0 && !isStopped()) clock.resume()
      }
    },
  }
}
