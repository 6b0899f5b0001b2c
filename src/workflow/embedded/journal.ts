/**
 * Opens a journal for appending; a torn last line is cut.
 */

import { closeSync, constants, fsyncSync, openSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crashPoint } from '../../process/host.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { toDiskError } from '../../runner/files.ts'
import { openWriteQueue } from '../../runner/write-queue.ts'
import { hasErrorCode, LINE_FEED } from '../../util/files.ts'
import { KIBIBYTE } from '../../util/units.ts'
import type { JournalRecord } from './journal-records.ts'
import {
  checkJournalHeader,
  JOURNAL_HEADER,
  openJournalFile,
  readJournal,
  serializeRecord,
} from './journal-records.ts'

/** A file of records while it is written. Only one process may open it. */
export type Journal = {
  readonly path: string
  /** Its records, in order. */
  readonly records: readonly JournalRecord[]
  /**
   * Queues a record, and gives its position; throws OUTPUT_LIMIT or INTERNAL for what cannot be
   * kept. After a failure of the disk nothing is queued any more.
   */
  append(record: JournalRecord): number
  /** The same for a line that is written already, with its end. */
  appendLine(line: string): number
  /**
   * Resolves when everything up to a position, or all so far, is on the disk; records that arrive
   * meanwhile are written together. Rejects with DISK_FULL, PERMISSION or INTERNAL from the first
   * loss on.
   */
  synced(position?: number): Promise<void>
  /** The same without a promise, which costs more than a line where many wait. */
  whenSynced(position: number | undefined, settle: (failure: ToolError | undefined) => void): void
  /** The last position that is on the disk, and how long the file is up to there. */
  readonly durable: { readonly position: number; readonly size: number }
  /** Why nothing is written any more, if so. */
  readonly failure: ToolError | undefined
  /**
   * Revokes the right to write: what is not on the disk yet may be lost, and `synced` rejects with
   * this error.
   */
  poison(error: ToolError): void
  /**
   * Waits for the disk and closes the file in any case; rejects like `synced`. What is appended
   * after it is dropped, and `synced` rejects.
   */
  close(): Promise<void>
}

type OpenJournalOptions = {
  /**
   * Default true; false leaves `records` empty, for large files whose contents are known already.
   */
  readonly read?: boolean
  /** Called after each batch that is on the disk; must not throw. */
  readonly onDurable?: () => void
}

/**
 * Opens a journal, new or old. A line that a crash has left without an end is cut. Throws CONFIG
 * for a newer version and for lines of others, DISK_FULL, PERMISSION or INTERNAL where the file
 * cannot be opened.
 */
export async function openJournal(
  path: string,
  { read = true, onDurable }: OpenJournalOptions = {},
): Promise<Journal> {
  const { records, size: found } = await prepareJournalFile(path, read)
  let size = found
  let failure: ToolError | undefined
  let closed = false
  const queue = openWriteQueue(
    openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW),
    path,
    {
      size,
      redact: (text) => text,
      // Flows that waited for a batch all have something to write then.
      gather: () =>
        new Promise((resolve) => {
          setImmediate(resolve)
        }),
      onHandedOver: () => crashPoint('journal.written'),
      onWritten(_text, now) {
        size = now
        crashPoint('journal.synced')
        if (onDurable) queueMicrotask(onDurable)
      },
      onLost(_lines, error) {
        failure ??= error
      },
    },
  )
  const appendLine = (line: string): number => {
    crashPoint('journal.append')
    return failure ? 0 : queue.push(line, true)
  }
  const whenSynced: Journal['whenSynced'] = (position, settle) => {
    if (failure) settle(failure)
    // A loss is known before this is called.
    else queue.whenDone(position, () => settle(failure))
  }
  if (size === 0) appendLine(JOURNAL_HEADER)
  return {
    path,
    records,
    append: (record) => appendLine(serializeRecord(record)),
    appendLine,
    whenSynced,
    synced: (position) =>
      new Promise((resolve, reject) => {
        whenSynced(position, (lost) => {
          lost ? reject(lost) : resolve()
        })
      }),
    get durable() {
      return { position: queue.done, size }
    },
    get failure() {
      return failure
    },
    poison(error) {
      failure ??= error
    },
    async close() {
      const wasClosed = closed
      closed = true
      await queue.close().catch((error: unknown) => {
        failure ??= toDiskError(error, `cannot write to ${path}`)
      })
      const lost = failure
      failure ??= new ToolError('INTERNAL', `${path} is closed`)
      if (lost && !wasClosed) throw lost
    },
  }
}

async function prepareJournalFile(
  path: string,
  read: boolean,
): Promise<{ readonly records: readonly JournalRecord[]; readonly size: number }> {
  try {
    const file = await openOrCreate(path)
    try {
      const records: JournalRecord[] = []
      const { size } = await file.stat()
      const end = read
        ? await readJournal(file, path, (record) => {
            records.push(record)
          })
        : await findJournalEnd(file, path, size)
      if (size > end) await file.truncate(end)
      // Its writer may have died before the disk had it, and what is read here is relied upon.
      if (size > 0) await file.datasync()
      return { records, size: end }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw toDiskError(error, `cannot open ${path}`)
  }
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await openJournalFile(path, constants.O_RDWR)
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error
    const file = await openJournalFile(path, constants.O_RDWR | constants.O_CREAT)
    syncFolder(dirname(path))
    return file
  }
}

// A power failure loses the name of a new file unless its folder is synced too.
function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } catch {
    /* some file systems know no such thing */
  } finally {
    closeSync(fd)
  }
}

const SCAN_CHUNK_BYTES = 64 * KIBIBYTE

/**
 * Where the last whole line of a journal ends, without reading what stands before it. Throws CONFIG
 * where the first line is not ours.
 */
async function findJournalEnd(file: FileHandle, path: string, size: number): Promise<number> {
  const end = await findLastLineEnd(file, size)
  if (end === 0) return 0
  const head = Buffer.alloc(Math.min(end, 4 * JOURNAL_HEADER.length))
  await file.read(head, 0, head.length, 0)
  checkJournalHeader(head.toString('utf8', 0, Math.max(0, head.indexOf(LINE_FEED))), path)
  return end
}

async function findLastLineEnd(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(SCAN_CHUNK_BYTES)
  for (let to = size; to > 0;) {
    const from = Math.max(0, to - SCAN_CHUNK_BYTES)
    const { bytesRead } = await file.read(chunk, 0, to - from, from)
    const at = chunk.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
    if (at !== -1) return from + at + 1
    to = from
  }
  return 0
}
