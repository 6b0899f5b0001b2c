/**
 * Performs a run to its end: takes the lock, makes attempts until one counts, and retries failures that may pass.
 */

import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identifyProcess } from '../process/process-table.ts'
import type { Redactor } from '../process/redaction.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readTextFile } from '../util/files.ts'
import { shorten } from '../util/text.ts'
import { KIBIBYTE } from '../util/units.ts'
import { compact } from '../util/values.ts'
import { createKeptAnswersChannel } from './answer-channels.ts'
import type { AttemptOutcome } from './attempt-outcome.ts'
import type { AttemptResult } from './attempt.ts'
import { recordRefusal, runAttempt } from './attempt.ts'
import type { OpenedEventLog } from './event-log.ts'
import { createEventForwarder, openEventLog } from './event-log.ts'
import { watchFolderUntil } from './files.ts'
import type { RunLock } from './lock.ts'
import { lockRun } from './lock.ts'
import { prepareAttempt } from './prepare.ts'
import type { AnswerChannel, QuestionBroker, RunQuestion } from './questions.ts'
import { createQuestionBroker, DEFAULT_QUESTION_TIMEOUT_SECONDS } from './questions.ts'
import type { RunRequest } from './request.ts'
import type { RunPaths } from './run-paths.ts'
import type { RunHost } from './run-target.ts'

const MAX_REASON_LENGTH = 500
const MAX_REASON_BYTES = 64 * KIBIBYTE

/**
 * Performs a run to its end: attempt by attempt, under its lock, on record. Throws only where
 * another process performs it, or where its folder cannot be written.
 */
export async function performRun(
  paths: RunPaths,
  request: RunRequest,
  host: RunHost,
): Promise<AttemptOutcome> {
  const lock = lockRun(paths)
  const cancel = watchCancel(paths, host.signal)
  const common = { paths, request, host, lock, known: new Map(), cancelled: cancel.signal }
  try {
    for (let tries = 0; ; tries += 1) {
      const { ending, pause, recorded } = await performAttempt({ ...common, tries })
      if (pause === undefined) {
        if (recorded) lock.release()
        return ending
      }
      // When cancelled in the meantime, the next attempt records that and never starts.
      await sleep(pause * 1000, undefined, { signal: cancel.signal }).catch(() => undefined)
    }
  } finally {
    cancel.stop()
    lock.abandon()
  }
}

type RunAttemptOptions = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly host: RunHost
  /** Attempts of this process before this one. */
  readonly tries: number
  readonly known: Map<string, string>
  readonly lock: RunLock
  readonly cancelled: AbortSignal
}

async function performAttempt(
  options: RunAttemptOptions,
): Promise<AttemptResult & { readonly pause: number | undefined }> {
  const { paths, request, host, tries, known, lock, cancelled } = options
  rmSync(paths.toolCancel, { force: true })
  mkdirSync(paths.answers, { recursive: true, mode: 0o700 })
  // They answered questions of an earlier attempt, which may have the same names. In a workflow the
  // same name is the same question.
  if (request.command !== 'workflow')
    for (const name of readdirSync(paths.answers))
      rmSync(join(paths.answers, name), { recursive: true, force: true })
  const resumedBy = tries > 0 ? 'retry' : host.resumedBy
  const remember = (pid: number): void =>
    lock.setChildren([identifyProcess(pid)].filter((one) => one !== undefined))
  let redactor: Redactor | undefined
  const prepared = await prepareAttempt(paths, request, host, {
    known,
    onStart: remember,
    onRedactor: (made) => {
      redactor = made
    },
  }).catch((error: unknown) => error as Error)
  const refused = prepared instanceof Error ? prepared : undefined
  const ready = prepared instanceof Error ? undefined : prepared
  const mirror = createEventForwarder(host.onWritten)
  const broken = new AbortController()
  let opened: OpenedEventLog | undefined
  try {
    opened = await openEventLog(paths.events, {
      runId: request.run_id,
      traceId: request.trace_id,
      attempt: 'next',
      onWritten: mirror.push,
      onFailure: (error) => broken.abort(error),
      ...compact({ redact: redactor && !redactor.isEmpty ? redactor.text : undefined }),
    })
    const { log, attempt, standing } = opened
    if (standing.state === 'completed')
      throw new ToolError('PRECONDITION', `${paths.id} is completed: there is nothing to run`)
    let pause: number | undefined
    const nextTry = (ended: AttemptOutcome): number | undefined => {
      const mayRetry = ended.again && tries < request.retries && !cancelled.aborted
      pause = mayRetry ? getRetryDelaySeconds(tries + 2, Math.random()) : undefined
      return pause
    }
    const about = {
      ...(ready?.about ?? { tool: request.tool, args: request.args, level: 'none' }),
      ...compact({ resumed_by: resumedBy }),
      ...host.about,
    }
    const attempted = ready
      ? await runAttempt({
          ...ready.attempt,
          log,
          attempt,
          about,
          forwarder: mirror,
          cancelled,
          broken: broken.signal,
          nextTry,
          requestStop: () => writeToolCancelFile(paths),
          broker: createRunBroker(paths, request, ready.channels, host.channels),
        })
      : await recordRefusal(log, about, refused!)
    return { ...attempted, pause }
  } finally {
    await ready?.release()
    // The outcome already says what could not be written.
    await opened?.log.close().catch(() => undefined)
    await mirror.drain()
  }
}

// Questions of a workflow keep their answers across restarts and wait forever.
function createRunBroker(
  paths: RunPaths,
  request: RunRequest,
  presets: readonly AnswerChannel[],
  channels: readonly AnswerChannel[],
): QuestionBroker {
  const isWorkflow = request.command === 'workflow'
  return createQuestionBroker({
    presets: isWorkflow ? [createKeptAnswersChannel(paths.answers), ...presets] : presets,
    channels,
    defaultTimeoutSeconds: isWorkflow ? Infinity : DEFAULT_QUESTION_TIMEOUT_SECONDS,
    getResumeCommand: (question) => getResumeCommand(request, question),
  })
}

/** The command that resumes a run which ended because a question was not answered. */
function getResumeCommand(
  { run_id }: RunRequest,
  { key, action, kind, options }: RunQuestion,
): string {
  const value = kind === 'confirm' ? 'true' : (options?.[0]?.value ?? '<value>')
  return `toolable resume ${run_id} --answer ${key ?? action}=${value}`
}

// The tool that does not look is asked by a signal too.
function writeToolCancelFile({ toolCancel }: RunPaths): void {
  try {
    writeFileSync(toolCancel, '', { mode: 0o644 })
  } catch {
    /* a full disk: the signal has to do */
  }
}

/**
 * A signal that says when the run is cancelled: by its caller, or by the file CANCEL, which anybody
 * who may write to its folder can put there.
 */
function watchCancel(
  paths: RunPaths,
  outer: AbortSignal,
): { readonly signal: AbortSignal; stop(): void } {
  const done = new AbortController()
  const cancelled = new AbortController()
  const byCaller = (): void => cancelled.abort(outer.reason)
  outer.addEventListener('abort', byCaller, { once: true })
  if (outer.aborted) byCaller()
  void watchFolderUntil(paths.folder, done.signal, async () => readCancelReason(paths.cancel)).then(
    (reason) => {
      if (reason !== undefined) cancelled.abort(reason)
    },
  )
  return {
    signal: cancelled.signal,
    stop() {
      done.abort()
      outer.removeEventListener('abort', byCaller)
    },
  }
}

// Its text is the reason; an empty file cancels too.
function readCancelReason(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return undefined
  const text = stats.size < MAX_REASON_BYTES ? (readTextFile(file) ?? '') : ''
  return shorten(text.trim(), MAX_REASON_LENGTH) || 'cancel-file'
}

/** The first pause before a new attempt, and the longest one, in seconds. */
const FIRST_RETRY_DELAY_SECONDS = 1
const MAX_RETRY_DELAY_SECONDS = 60

/**
 * Seconds to wait before the attempt with that number (2 is the first that is tried again): twice
 * as long each time, and never the same for many at once.
 */
export function getRetryDelaySeconds(attempt: number, random: number): number {
  const full = Math.min(MAX_RETRY_DELAY_SECONDS, FIRST_RETRY_DELAY_SECONDS * 2 ** (attempt - 2))
  return Math.round((full / 2 + (full / 2) * random) * 1000) / 1000
}
