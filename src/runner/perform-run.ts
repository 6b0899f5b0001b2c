import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readText } from '../call/exclusive-file.ts'
import { shorten } from '../contract/shorten.ts'
import { ToolError } from '../contract/tool-error.ts'
import { identify } from '../process/process-table.ts'
import type { Redactor } from '../process/redaction/create-redactor.ts'
import type { Ending } from './attempt/ending/ending.ts'
import { recordRefusal, runAttempt } from './attempt/run-attempt.ts'
import type { Attempted } from './attempt/run-attempt.ts'
import type { RunPaths } from './folder/run-paths.ts'
import { lockRun } from './folder/lock.ts'
import type { RunLock } from './folder/lock.ts'
import { createBroker } from './interactions/broker.ts'
import { keptAnswersChannel } from './interactions/channels/folder.ts'
import { LONGEST_QUESTION_S } from './interactions/longest-question.ts'
import type { Question } from './interactions/read-question.ts'
import { openLog } from './log/event-log.ts'
import type { OpenedLog } from './log/event-log.ts'
import { createMirror } from './mirror.ts'
import { prepareAttempt } from './prepare/prepare-attempt.ts'
import { pauseBefore } from './retry.ts'
import type { RunHost } from './run-host.ts'
import type { RunRequest } from './run-request.ts'
import { untilThere } from './until-there.ts'

const LONGEST_REASON = 500
const LARGEST_REASON = 64 * 1024

/** Performs a run to its end: attempt by attempt, under its lock, on record. Throws only where another process performs it, or where its folder cannot be written. */
export async function performRun(
  paths: RunPaths,
  request: RunRequest,
  host: RunHost,
): Promise<Ending> {
  const lock = lockRun(paths)
  const cancel = watchCancel(paths, host.signal)
  const known = new Map<string, string>()
  try {
    for (let tries = 0; ; tries += 1) {
      const { ending, pause, recorded } = await tryOnce({
        paths,
        request,
        host,
        tries,
        known,
        lock,
        cancelled: cancel.signal,
      })
      if (pause === undefined) {
        if (recorded) lock.release()
        return ending
      }
      // Cancelled meanwhile, the next attempt is one that never starts, and says so.
      await sleep(pause * 1000, undefined, { signal: cancel.signal }).catch(() => undefined)
    }
  } finally {
    cancel.stop()
    lock.abandon()
  }
}

type Try = {
  readonly paths: RunPaths
  readonly request: RunRequest
  readonly host: RunHost
  readonly tries: number
  readonly known: Map<string, string>
  readonly lock: RunLock
  readonly cancelled: AbortSignal
}

async function tryOnce({
  paths,
  request,
  host,
  tries,
  known,
  lock,
  cancelled,
}: Try): Promise<Attempted & { readonly pause: number | undefined }> {
  rmSync(paths.toolCancel, { force: true })
  mkdirSync(paths.answers, { recursive: true, mode: 0o700 })
  // Answers to questions of an attempt before, which may have the same names. In a workflow the same name is the same question.
  if (request.command !== 'workflow')
    for (const name of readdirSync(paths.answers))
      rmSync(join(paths.answers, name), { recursive: true, force: true })
  const resumedBy = tries > 0 ? 'retry' : host.resumedBy
  const remember = (pid: number): void =>
    lock.remember([identify(pid)].filter((one) => one !== undefined))
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
  const mirror = createMirror(host.onWritten)
  const broken = new AbortController()
  let opened: OpenedLog | undefined
  try {
    opened = await openLog(paths.events, {
      runId: request.run_id,
      traceId: request.trace_id,
      attempt: 'next',
      onWritten: mirror.take,
      onFailure: (error) => broken.abort(error),
      ...(redactor && !redactor.isEmpty && { redact: redactor.text }),
    })
    const { log, attempt, standing } = opened
    if (standing.state === 'completed')
      throw new ToolError('PRECONDITION', `${paths.id} is completed: there is nothing to run`)
    let pause: number | undefined
    const nextTry = (ended: Ending): number | undefined =>
      (pause =
        ended.again && tries < request.retries && !cancelled.aborted
          ? pauseBefore(tries + 2, Math.random())
          : undefined)
    const about = {
      ...(ready?.about ?? { tool: request.tool, args: request.args, level: 'none' }),
      ...(resumedBy && { resumed_by: resumedBy }),
      ...host.about,
    }
    const attempted = ready
      ? await runAttempt({
          ...ready.attempt,
          log,
          attempt,
          about,
          mirror,
          cancelled,
          broken: broken.signal,
          nextTry,
          tellToStop: () => tellToStop(paths),
          broker: createBroker({
            presets:
              request.command === 'workflow'
                ? [keptAnswersChannel(paths.answers), ...ready.channels]
                : ready.channels,
            channels: host.channels,
            longest: request.command === 'workflow' ? Infinity : LONGEST_QUESTION_S,
            wayOut: (question) => wayOut(request, question),
          }),
        })
      : await recordRefusal(log, about, refused!)
    return { ...attempted, pause }
  } finally {
    await ready?.release()
    // What could not be written has been told by the ending already.
    await opened?.log.close().catch(() => undefined)
    await mirror.empty()
  }
}

/** The command with which a run goes on that ended because nobody answered. */
function wayOut({ run_id }: RunRequest, { key, action, kind, options }: Question): string {
  const value = kind === 'confirm' ? 'true' : (options?.[0]?.value ?? '<value>')
  return `toolable resume ${run_id} --answer ${key ?? action}=${value}`
}

// The tool that does not look is asked by a signal too.
function tellToStop({ toolCancel }: RunPaths): void {
  try {
    writeFileSync(toolCancel, '', { mode: 0o644 })
  } catch {
    /* a full disk: the signal has to do */
  }
}

/** A signal that says when the run is cancelled: by its caller, or by the file CANCEL, which anybody who may write to its folder can put there. */
function watchCancel(
  paths: RunPaths,
  outer: AbortSignal,
): { readonly signal: AbortSignal; stop(): void } {
  const done = new AbortController()
  const cancelled = new AbortController()
  const byCaller = (): void => cancelled.abort(outer.reason)
  outer.addEventListener('abort', byCaller, { once: true })
  if (outer.aborted) byCaller()
  void untilThere(paths.folder, done.signal, async () => readReason(paths.cancel)).then(
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

// What it says is why; an empty one is a wish all the same.
function readReason(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  return (
    stats &&
    ((stats.size < LARGEST_REASON && shorten((readText(file) ?? '').trim(), LONGEST_REASON)) ||
      'cancel-file')
  )
}
