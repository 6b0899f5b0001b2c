/**
 * The record of a run while it is written (`events.jsonl`), and the forwarder that shows each
 * written line to watchers.
 *
 * There is one writer: the owner of the run lock. Disk space is reserved so that the end of a run
 * can be written on a full disk.
 */

import { constants, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RunEvent, RunStateInfo } from '../protocol/run-state.ts'
import { isFinished } from '../protocol/run-state.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import { SerialQueue } from '../util/async.ts'
import { MEBIBYTE } from '../util/units.ts'
import { compact } from '../util/values.ts'
import type { UnstampedEvent } from './event-stamp.ts'
import { createEventLineRedactor, createStamp, stampEvent } from './event-stamp.ts'
import { toDiskError } from './files.ts'
import { scanLog } from './log-reader.ts'
import { openWriteQueue } from './write-queue.ts'

/**
 * The record of a run while it is written. There is one writer: the owner of the lock of the run.
 */
export type EventLog = {
  /**
   * Stamps v, ts, run_id, trace_id, seq and attempt and queues it. What a tool said of run_id, seq
   * and attempt does not count; its ts, v and trace_id do where they are valid. `text` is the line
   * that the event was parsed from, which saves writing it anew; the event is the log's then.
   * Throws nothing.
   */
  append(event: UnstampedEvent, text?: string): RunEvent
  /**
   * Resolves when everything appended so far is written (it survives a kill -9); rejects with
   * DISK_FULL or INTERNAL when some of it was lost.
   */
  flush(): Promise<void>
  /** Characters that wait; above a bound the caller holds the tool back. */
  readonly waiting: number
  /** Waits for the disk and closes the file, in any case; rejects like flush. */
  close(): Promise<void>
}

type OpenEventLogOptions = {
  readonly runId: string
  readonly traceId?: string | undefined
  /** Default: the attempt that the log stands at; `next` is the one after it. */
  readonly attempt?: number | 'next'
  /** Called with whole lines once they are written. Must not throw. */
  readonly onWritten?: (text: string) => void
  /**
   * Called as soon as lines are lost, so that the tool can be stopped. Events of the tool are
   * dropped from then on; `runner_error` and `runner_end` are still tried.
   */
  readonly onFailure?: (error: ToolError) => void
  /** Takes secrets out of text. */
  readonly redact?: (text: string) => string
}

export type OpenedEventLog = {
  readonly log: EventLog
  readonly standing: RunStateInfo
  readonly attempt: number
  readonly last?: RunEvent
}

const CLOSING_EVENT_TYPES: readonly string[] = ['runner_error', 'runner_end']

/**
 * Opens the log of a run, new or old. A tail that a crash has left is cut and told as a
 * `runner_warning`; the numbers go on where they stopped. Throws PERMISSION, DISK_FULL or INTERNAL
 * when the file cannot be opened, never for what stands in it.
 */
export async function openEventLog(
  path: string,
  options: OpenEventLogOptions,
): Promise<OpenedEventLog> {
  const { standing, last, end, cut } = await prepareLogFile(path)
  const attempt =
    options.attempt === 'next'
      ? standing.attempt + 1
      : (options.attempt ?? Math.max(standing.attempt, 1))
  const place = createStamp(options.runId, options.traceId, attempt)
  const { openSync } = await import('node:fs')
  const reserve = reserveDiskSpace(path)
  let seq = last?.seq ?? 0
  let lost = 0
  // Why events were dropped since the last flush.
  let dropped: ToolError | undefined
  let failure: ToolError | undefined
  let unreportedCut = cut

  const queue = openWriteQueue(
    openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW),
    path,
    {
      size: end,
      onWritten: options.onWritten ?? (() => undefined),
      redact: options.redact ? createEventLineRedactor(options.redact) : (text) => text,
      onLost(lines, error) {
        lost += lines
        seq -= lines
        failure = error
        options.onFailure?.(error)
      },
    },
  )
  const write = (event: UnstampedEvent, text?: string): RunEvent => {
    seq += 1
    const stamped = stampEvent(event, seq, place, text)
    queue.push(
      stamped.line,
      event.type === 'runner_end' ||
        (event.type === 'action_required' && event['interaction'] !== undefined),
    )
    return stamped.event
  }
  const reportCut = (): void => {
    if (unreportedCut === 0) return
    unreportedCut = 0
    write({
      type: 'runner_warning',
      msg: `${cut} bytes at the end of the log were cut: whoever wrote them died in the middle of a line`,
      cut_bytes: cut,
    })
  }
  const throwDropped = async (work: Promise<void>): Promise<void> => {
    const error = dropped
    dropped = undefined
    await work
    if (error) throw error
  }
  // A finished run gets no events before it is started again.
  if (!isFinished(standing.state) && standing.state !== 'queued') reportCut()

  return {
    standing,
    attempt,
    ...compact({ last }),
    log: {
      append(event, text) {
        if (lost > 0) {
          if (!CLOSING_EVENT_TYPES.includes(event.type)) {
            lost += 1
            dropped = failure
            return stampEvent(event, seq, place).event
          }
          reserve.release()
          const missing = lost
          lost = 0
          write({
            type: 'runner_warning',
            msg: `${missing} ${missing === 1 ? 'event is' : 'events are'} missing here: they could not be written`,
            lost_events: missing,
          })
        }
        if (event.type === 'runner_end') reportCut()
        const stamped = write(event, text)
        if (event.type === 'runner_start') reportCut()
        return stamped
      },
      flush: () => throwDropped(queue.flush()),
      get waiting() {
        return queue.waiting
      },
      async close() {
        await throwDropped(queue.close()).finally(reserve.release)
      },
    },
  }
}

async function prepareLogFile(
  path: string,
): Promise<Awaited<ReturnType<typeof scanLog>> & { readonly cut: number }> {
  const { open } = await import('node:fs/promises')
  try {
    const file = await open(
      path,
      constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
      0o600,
    )
    try {
      const scanned = await scanLog(file)
      const { size } = await file.stat()
      if (size > scanned.end) await file.truncate(scanned.end)
      return { ...scanned, cut: size - scanned.end }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw toDiskError(error, `cannot open ${path}`)
  }
}

const RESERVE_BYTES = 8192

/**
 * Space that is kept beside a log, so that the end of a run can be written on a disk that is full.
 * Without room for it there is none, which is no failure.
 */
function reserveDiskSpace(log: string): { release(): void } {
  const file = join(dirname(log), 'reserve')
  const release = (): void => {
    try {
      rmSync(file, { force: true })
    } catch {
      /* then there is no space to gain */
    }
  }
  try {
    writeFileSync(file, Buffer.alloc(RESERVE_BYTES, 0x20), { mode: 0o600 })
  } catch {
    release()
  }
  return { release }
}

/** Characters that may wait for a slow watcher before the tool is held back. */
const MAX_PENDING_FORWARD_CHARS = MEBIBYTE

/** Shows recorded lines to a watcher, in order, at its pace. */
export type EventForwarder = {
  push(lines: string): void
  /** A promise while too much waits. */
  waitForDrain(): Promise<void> | undefined
  /** Stops holding the tool back: it is being stopped, and a slow watcher must not delay that. */
  disableBackpressure(): void
  /** Resolves when everything was shown, or the watcher is gone. */
  drain(): Promise<void>
}

/** Forwards lines to a listener until it fails. */
export function createEventForwarder(
  show: ((lines: string) => void | Promise<void>) | undefined,
): EventForwarder {
  const queue = new SerialQueue()
  let waiting = 0
  let gone = show === undefined
  let hurried = false
  let held: { readonly until: Promise<void>; readonly letGo: () => void } | undefined

  const letGo = (): void => {
    held?.letGo()
    held = undefined
  }
  const settle = (length: number): void => {
    waiting -= length
    if (waiting < MAX_PENDING_FORWARD_CHARS) letGo()
  }
  return {
    push(lines) {
      if (gone) return
      waiting += lines.length
      void queue.run(async () => {
        try {
          if (!gone) await show!(lines)
        } catch {
          gone = true
        }
        settle(lines.length)
      })
    },
    waitForDrain() {
      if (hurried || waiting < MAX_PENDING_FORWARD_CHARS) return undefined
      return (held ??= createGate()).until
    },
    disableBackpressure() {
      hurried = true
      letGo()
    },
    drain: () => queue.whenIdle(),
  }
}

function createGate(): { readonly until: Promise<void>; readonly letGo: () => void } {
  let letGo: () => void = () => undefined
  const until = new Promise<void>((resolve) => {
    letGo = resolve
  })
  return { until, letGo }
}
