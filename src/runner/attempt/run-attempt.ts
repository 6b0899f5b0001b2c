import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { CallForm } from '../../registry/child/child-call.ts'
import type { Broker } from '../interactions/broker.ts'
import type { EventLog } from '../log/event-log.ts'
import type { Mirror } from '../mirror.ts'
import { answerQuestions } from './answer-questions.ts'
import { startClock } from './clock.ts'
import { conclude } from './ending/conclude.ts'
import type { Ending } from './ending/ending.ts'
import { failWith } from './ending/ending.ts'
import type { Intervention } from './ending/intervention.ts'
import type { ToolLine } from '../output/judge-line.ts'
import type { StartSubject, Subject, SubjectListener } from './subject.ts'

/** Milliseconds that a tool has between the request to end and the kill, when its time is up anyway. */
const LAST_MOMENT = 100
/** Bytes that may wait for the log before the tool is held back. */
const MOST_WAITING = 1024 * 1024
/** So many connections are on record. */
const MOST_CONNECTIONS = 1000
const ENDS = new Set(['result', 'error', 'cancelled'])

/** One start of a tool, from `runner_start` to `runner_end`. */
export type AttemptOptions = {
  readonly log: EventLog
  /** Its number. */
  readonly attempt: number
  readonly start: StartSubject
  /** What `runner_start` says. */
  readonly about: JsonObject
  readonly broker: Broker
  /** Who looks on; one who is slow slows the tool down. */
  readonly mirror: Mirror
  /** Seconds; undefined: as long as it takes. */
  readonly deadline: number | undefined
  readonly heartbeatGrace: number
  /** Whether silence counts: from the start, from the first line of the protocol, or never, because nobody could tell it. */
  readonly heartbeats: 'owed' | 'once-heard' | 'none'
  readonly form: CallForm | undefined
  readonly exitCodes: { readonly [meaning: string]: number } | undefined
  /** Milliseconds that a cancelled tool has to end by itself. */
  readonly grace: number
  /** Puts the cancel file where the tool looks for it. */
  readonly tellToStop: () => void
  /** Aborted when the run is cancelled; its reason says by what. */
  readonly cancelled: AbortSignal
  /** Aborted when the log has lost something; its reason is the error. */
  readonly broken: AbortSignal
  /** After the tree is dead, and before the end is recorded: hashes artifacts, puts outputs in their place. May change the ending; a cancelled run is not kept waiting. */
  readonly settle: (ending: Ending, cancelled: AbortSignal) => Promise<Ending>
  /** Seconds until the next attempt, where there is one; recorded with the end. */
  readonly nextTry: (ending: Ending) => number | undefined
}

/** How an attempt ended, and whether its end is in the log. */
export type Attempted = { readonly ending: Ending; readonly recorded: boolean }

/** Runs a tool once, under watch, on record. Never throws: what goes wrong is an ending. */
export async function runAttempt(options: AttemptOptions): Promise<Attempted> {
  const { log, about, settle, nextTry } = options
  const began = performance.now()
  log.append({ type: 'runner_start', ...about })
  let ending: Ending
  try {
    await log.flush()
    ending = await settle(await supervise(options), options.cancelled)
  } catch (error) {
    ending = failWith(error as Error)
  }
  for (const line of ending.lines) log.append(line)
  // A result that cannot be written is none: the end has to know.
  await log.flush().catch((error: unknown) => {
    ending = { ...failWith(error as Error), again: false }
    for (const line of ending.lines) log.append(line)
  })
  const retry = nextTry(ending)
  log.append({
    type: 'runner_end',
    state: ending.state,
    rc: ending.rc,
    ...(ending.code !== undefined && { code: ending.code }),
    duration_s: seconds(performance.now() - began),
    ...(retry !== undefined && { retry_in_s: retry }),
  })
  try {
    await log.flush()
    return { ending, recorded: true }
  } catch (error) {
    return { ending: { ...failWith(error as Error), again: false }, recorded: false }
  }
}

/** Puts an attempt on record that was refused before anything was started. */
export async function recordRefusal(
  log: EventLog,
  about: JsonObject,
  error: Error,
): Promise<Attempted> {
  const ending = { ...failWith(error), again: false }
  log.append({ type: 'runner_start', ...about, refused: true })
  for (const line of ending.lines) log.append(line)
  log.append({
    type: 'runner_end',
    state: ending.state,
    rc: ending.rc,
    code: ending.code,
    duration_s: 0,
  })
  await log.flush()
  return { ending, recorded: true }
}

async function supervise(options: AttemptOptions): Promise<Ending> {
  const {
    log,
    broker,
    mirror,
    deadline,
    heartbeatGrace,
    form,
    exitCodes,
    grace,
    cancelled,
    broken,
  } = options
  let subject: Subject | undefined
  let intervention: Intervention | undefined
  let stopIt = (): void => undefined
  let last: ToolLine | undefined
  const over = new AbortController()

  const intervene = (why: Intervention, patience: number): void => {
    if (intervention) return
    intervention = why
    stopIt = () => subject?.stop(patience, why)
    clock.stop()
    options.tellToStop()
    mirror.hurry()
    stopIt()
  }
  const fail = (error: unknown, patience = LAST_MOMENT): void =>
    intervene(
      {
        why: 'failure',
        error: ToolError.is(error)
          ? error
          : new ToolError('INTERNAL', messageOf(error), { cause: error }),
      },
      patience,
    )
  const cancel = (): void => {
    const reason: unknown = cancelled.reason
    // Whoever performs it goes, and nobody wants it to end.
    if (ToolError.is(reason) && reason.code === 'INTERRUPTED') return fail(reason, grace)
    intervene({ why: 'cancelled', reason: messageOf(reason ?? 'cancelled') }, grace)
  }
  const clock = startClock({
    deadline,
    grace: heartbeatGrace,
    onDeadline: () => intervene({ why: 'deadline', seconds: deadline ?? 0 }, LAST_MOMENT),
    onSilence: () => intervene({ why: 'heartbeat', seconds: heartbeatGrace }, LAST_MOMENT),
  })
  if (options.heartbeats === 'owed') clock.expectBeats()

  const failByLog = (): void => fail(broken.reason)
  let connections = 0
  const questions = answerQuestions({
    log,
    broker,
    clock,
    attempt: options.attempt,
    over: over.signal,
    subject: () => subject,
    isStopped: () => intervention !== undefined,
  })

  const listener: SubjectListener = {
    onLine(line, text) {
      clock.beat()
      if (options.heartbeats !== 'none') clock.expectBeats()
      if (last)
        return void log.append({
          type: 'diagnostic',
          stream: 'stdout',
          reason: 'late',
          msg: 'the run was over for the tool already',
          refused: line,
        })
      if (intervention && line.type === 'result' && !subject?.trusted)
        return void log.append({
          type: 'diagnostic',
          stream: 'stdout',
          reason: 'late',
          msg: 'the runner had ended the run already',
          refused: line,
        })
      if (ENDS.has(line.type)) last = line
      else if (line.type === 'action_required') void questions.ask(line).catch(fail)
      else log.append(line, text)
    },
    // A sign of life, but no promise of more: only who speaks the protocol owes heartbeats.
    onTold(line) {
      clock.beat()
      log.append(line)
    },
    onDoubt: (doubt) => void log.append({ type: 'diagnostic', ...doubt }),
    onPlain: (line) => void log.append({ type: 'log', level: 'info', msg: line }),
    onConnection(connection) {
      // A relay may learn of an end when the record of the attempt is closed.
      if (over.signal.aborted) return
      connections += 1
      const { host, port, refused } = connection
      if (connections <= MOST_CONNECTIONS)
        log.append({
          type: 'runner_log',
          level: refused === undefined ? 'info' : 'warn',
          msg:
            refused === undefined
              ? `connected to ${host}:${port}`
              : `did not connect to ${host}:${port}: ${refused}`,
          connection,
        })
      else if (connections === MOST_CONNECTIONS + 1)
        log.append({ type: 'runner_log', level: 'warn', msg: 'more connections are not recorded' })
    },
    onFlood: (bytes) => intervene({ why: 'output', bytes }, LAST_MOMENT),
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
    room: () => (log.waiting < MOST_WAITING ? mirror.room() : log.flush().catch(fail)),
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
      intervention = { why: 'failure', error: unanswered }
    return conclude({ end, intervention, last, exitCodes, form })
  } finally {
    over.abort()
    clock.stop()
    cancelled.removeEventListener('abort', cancel)
    broken.removeEventListener('abort', failByLog)
  }
}

const NEVER_STARTED = {
  child: { reason: 'cancelled', status: null, signal: null },
  speaksProtocol: false,
  stdout: Buffer.alloc(0),
  stderr: '',
} as const

function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000
}

function messageOf(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem)
}
