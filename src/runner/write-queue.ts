/**
 * Appends lines to a file in batches and acknowledges each line once it is written, or synced to
 * disk where durability is asked for. Used by the event log and the workflow journal.
 */

import { close, fdatasync, ftruncate, write } from 'node:fs'
import type { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, LINE_FEED } from '../util/files.ts'
import { toDiskError } from './files.ts'

const MAX_WRITE_RETRIES = 100

export type WriteQueueOptions = {
  /** What is in the file already and stays. */
  readonly size: number
  /** Called with the whole lines that were written and the new size of the file. Must not throw. */
  readonly onWritten: (text: string, size: number) => void
  /** Called when the system has a batch, before the disk has it. Must not throw. */
  readonly onHandedOver?: () => void
  /**
   * Awaited before each batch; lines pushed in the meantime join it. Default: the end of the turn,
   * before the first batch.
   */
  readonly gather?: () => Promise<void>
  /** Changes text before it is written; keeps the lines. */
  readonly redact: (text: string) => string
  /** Called when this many of the last lines are not in the file. */
  readonly onLost: (lines: number, error: ToolError) => void
}

/**
 * Lines on their way into a file. What is pushed in one turn leaves in one write; a line is
 * acknowledged when it is written, and the file ends with an acknowledged line whatever fails.
 */
export type WriteQueue = {
  /**
   * `durable`: acknowledged only when it is on the disk. Gives the number of the line, from 1 on.
   * What comes after `close` is dropped.
   */
  push(line: string, durable: boolean): number
  /**
   * Resolves when everything pushed so far, or up to a line, is acknowledged; rejects when some of
   * it was lost.
   */
  flush(until?: number): Promise<void>
  /** The same without a promise: called immediately when there is nothing to wait for. */
  whenDone(until: number | undefined, settle: (failure: ToolError | undefined) => void): void
  /** The number of the last line that is acknowledged or lost. */
  readonly done: number
  /** Characters that wait. */
  readonly waiting: number
  /** Flushes, waits for the disk, and closes the file in any case. */
  close(): Promise<void>
}

type WriteBatch = { text: string; lines: number; durable: boolean }

type WriteWaiter = {
  readonly until: number
  readonly settle: (failure: ToolError | undefined) => void
}

/** Writes to a descriptor that was opened for appending and belongs to the queue from here on. */
export function openWriteQueue(
  fd: number,
  file: string,
  { size, onWritten, onHandedOver, gather, redact, onLost }: WriteQueueOptions,
): WriteQueue {
  let next: WriteBatch = createBatch()
  let inHand = 0
  let working = false
  let [pushed, done] = [0, 0]
  let waiters: WriteWaiter[] = []
  // A loss that was not reported yet.
  let failure: ToolError | undefined
  // The file has a partial line after `size` that could not be removed yet.
  let torn = false
  let durableSize = -1
  let closed = false

  const cutTo = async (length: number): Promise<void> => {
    torn = true
    await truncate(fd, length)
    torn = false
  }
  const acknowledge = (bytes: Buffer, text: string): void => {
    size += bytes.length
    if (bytes.length > 0) onWritten(text, size)
  }
  const settle = (lines: number): void => {
    done += lines
    if (waiters.length === 0) return
    const ready: WriteWaiter[] = []
    const rest: WriteWaiter[] = []
    for (const waiter of waiters) (waiter.until <= done ? ready : rest).push(waiter)
    if (ready.length === 0) return
    waiters = rest
    const told = failure
    failure = undefined
    for (const waiter of ready) waiter.settle(told)
  }
  const save = async ({ text, lines, durable }: WriteBatch): Promise<void> => {
    const safe = redact(text)
    const bytes = Buffer.from(safe)
    let sent = 0
    try {
      if (torn) await cutTo(size)
      await writeAll(fd, bytes, (count) => {
        sent += count
      })
      onHandedOver?.()
      if (durable) await sync(fd)
      acknowledge(bytes, safe)
      if (durable) durableSize = size
    } catch (error) {
      // Lines that went in whole are as good as any, unless it is the disk that refused them.
      const kept = bytes.subarray(
        0,
        sent === bytes.length ? 0 : bytes.subarray(0, sent).lastIndexOf(LINE_FEED) + 1,
      )
      if (sent > kept.length) await cutTo(size + kept.length).catch(() => undefined)
      acknowledge(kept, kept.toString())
      failure = toDiskError(error, `cannot write to ${file}`)
      const behind = next.lines
      next = createBatch()
      onLost(lines - countLines(kept) + behind, failure)
      done += behind
    }
    settle(lines)
  }
  const work = async (): Promise<void> => {
    working = true
    await (gather ? gather() : Promise.resolve())
    while (next.lines > 0) {
      const batch = next
      next = createBatch()
      inHand = batch.text.length
      await save(batch)
      inHand = 0
      if (gather) await gather()
    }
    working = false
  }
  const whenDone = (until = pushed, settle: WriteWaiter['settle']): void => {
    if (done < until) {
      waiters.push({ until, settle })
      return
    }
    const told = failure
    failure = undefined
    settle(told)
  }
  const flush = (until?: number): Promise<void> =>
    new Promise((resolve, reject) => {
      whenDone(until, (told) => {
        told ? reject(told) : resolve()
      })
    })

  return {
    push(line, durable) {
      // The number of the descriptor means another file soon.
      if (closed) return pushed
      next.text += line
      next.lines += 1
      next.durable ||= durable
      pushed += 1
      if (!working) void work()
      return pushed
    },
    flush,
    whenDone,
    get done() {
      return done
    },
    get waiting() {
      return inHand + next.text.length
    },
    async close() {
      if (closed) return
      closed = true
      try {
        await flush()
        if (durableSize !== size)
          await sync(fd).catch((error: unknown) => {
            throw toDiskError(error, `cannot write to ${file}`)
          })
      } finally {
        await new Promise<void>((resolve) => {
          close(fd, () => resolve())
        })
      }
    },
  }
}

function createBatch(): WriteBatch {
  return { text: '', lines: 0, durable: false }
}

async function writeAll(fd: number, bytes: Buffer, onSent: (count: number) => void): Promise<void> {
  for (let [sent, retries] = [0, 0]; sent < bytes.length;) {
    const count = await writeSome(fd, bytes, sent)
    retries = count === 0 ? retries + 1 : 0
    if (retries > MAX_WRITE_RETRIES)
      throw Object.assign(new Error('nothing is written'), { code: 'EIO' })
    sent += count
    onSent(count)
  }
}

// An interrupted call has written nothing, and is no failure.
function writeSome(fd: number, bytes: Buffer, from: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, from, bytes.length - from, null, (error, count) => {
      if (!error) resolve(count)
      else if (hasErrorCode(error, 'EINTR', 'EAGAIN')) resolve(0)
      else reject(error)
    })
  })
}

function truncate(fd: number, length: number): Promise<void> {
  return new Promise((resolve, reject) => {
    ftruncate(fd, length, (error) => {
      error ? reject(error) : resolve()
    })
  })
}

function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(fd, (error) => {
      error ? reject(error) : resolve()
    })
  })
}

function countLines(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1))
    lines += 1
  return lines
}
