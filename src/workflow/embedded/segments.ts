/**
 * Segments of this process: the one for new executions, and those taken over from processes that
 * died.
 */

import { statSync } from 'node:fs'
import { ToolError } from '../../protocol/tool-error.ts'
import { MEBIBYTE } from '../../util/units.ts'
import type { Workflow } from '../definition/model.ts'
import type { EndState } from '../engine.ts'
import type { BeginRecord, JournalRecord } from './journal-records.ts'
import type { Journal } from './journal.ts'
import { openJournal } from './journal.ts'
import type { InlinePaths } from './segment-files.ts'
import {
  createSegmentConflict,
  createSegmentName,
  getSegmentOwner,
  getSegmentPaths,
  listSegments,
  lockSegment,
} from './segment-files.ts'
import type { ExecutionRecords } from './segment-reader.ts'
import {
  appendToIndex,
  groupByExecution,
  readExecutionIndex,
  serializeCoveredRange,
  serializeIndexedExecution,
} from './segment-reader.ts'

/**
 * The segments of one engine: the one that new executions go into, and those that still have some
 * to finish.
 */
export type SegmentPool = {
  /** The one for new executions; undefined where it has to be made first. */
  current(): JournalSegment | undefined
  next(): Promise<JournalSegment>
  /**
   * Takes segments whose owners are gone, with the executions in them that are not over: all, or
   * the one that has a certain execution. Each counts as live until whoever took it says otherwise.
   */
  takeOver(
    id: string | undefined,
    live: ReadonlyMap<string, unknown>,
  ): Promise<
    readonly {
      readonly segment: JournalSegment
      readonly executions: readonly ExecutionRecords[]
    }[]
  >
  writeIndex(): void
  close(): Promise<void>
}

const TIDY_INTERVAL_MS = 1000

/** Opens no file before one is needed. */
export function openSegmentPool(paths: InlinePaths, now: () => number): SegmentPool {
  const open = new Set<JournalSegment>()
  let newest: JournalSegment | undefined
  let opening: Promise<JournalSegment> | undefined

  // Those that are finished and take nothing new are given back.
  const tidy = (): void => {
    for (const segment of open) {
      if ((segment === newest && !segment.isFull) || segment.live > 0) continue
      open.delete(segment)
      void segment.close().catch(() => undefined)
    }
  }
  const timer = setInterval(tidy, TIDY_INTERVAL_MS).unref()

  const openNext = async (): Promise<JournalSegment> => {
    const free = await takeFreeSegment(paths)
    newest = free ?? (await openSegment(paths, createSegmentName(now())))
    open.add(newest)
    return newest
  }
  return {
    current: () => (newest && !newest.isFull ? newest : undefined),
    next: () =>
      (opening ??= openNext().finally(() => {
        opening = undefined
      })),
    async takeOver(id, live) {
      const listed = [...(await readExecutionIndex(paths)).values()].filter(
        (one) => one.s === undefined && !live.has(one.w),
      )
      const wanted = id === undefined ? listed : listed.filter(({ w }) => w === id)
      const names = new Set(wanted.map(({ j }) => j))
      if (id !== undefined && names.size === 0) await throwNotTakeable(paths, id)
      const taken = []
      for (const name of names) {
        const files = getSegmentPaths(paths, name)
        const isMine = [...open].some((segment) => segment.name === name)
        const owner = getSegmentOwner(files)
        if (isMine || owner) {
          if (id !== undefined && !isMine) throw createSegmentConflict(files, id, owner)
          continue
        }
        const segment = await openSegment(paths, name, { read: true }).catch((error: unknown) => {
          // Somebody else was faster, and goes on with them.
          if (id === undefined && ToolError.is(error) && error.code === 'CONFLICT') return undefined
          throw error
        })
        if (!segment) continue
        // Held until they go on.
        segment.live += 1
        open.add(segment)
        const executions = [...groupByExecution(segment.records, files.journal).values()].filter(
          (one) => !one.end && !one.records.some(({ t }) => t === 'moved'),
        )
        taken.push({ segment, executions })
      }
      return taken
    },
    writeIndex() {
      for (const segment of open) segment.writeIndex()
    },
    async close() {
      clearInterval(timer)
      await opening?.catch(() => undefined)
      const results = await Promise.allSettled([...open].map((segment) => segment.close()))
      open.clear()
      newest = undefined
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  }
}

// A process that does little leaves a file that the next can go on with, so that there are not as
// many files as processes.
async function takeFreeSegment(paths: InlinePaths): Promise<JournalSegment | undefined> {
  const unfinished = new Set(
    [...(await readExecutionIndex(paths)).values()].flatMap((one) =>
      one.s === undefined ? [one.j] : [],
    ),
  )
  for (const name of listSegments(paths).reverse()) {
    const files = getSegmentPaths(paths, name)
    if (
      unfinished.has(name) ||
      getSegmentOwner(files) ||
      (statSync(files.journal, { throwIfNoEntry: false })?.size ?? MAX_SEGMENT_BYTES) >=
        MAX_SEGMENT_BYTES / 2
    )
      continue
    const taken = await openSegment(paths, name).catch(() => undefined)
    if (taken) return taken
  }
  return undefined
}

/** Says why an execution cannot be taken. */
export async function throwNotTakeable(paths: InlinePaths, id: string): Promise<never> {
  const one = (await readExecutionIndex(paths)).get(id)
  if (!one)
    throw new ToolError('NOT_FOUND', `there is no workflow '${id}' in ${paths.root}`, {
      suggestion: 'toolable workflow list',
    })
  if (one.s === 'moved')
    throw new ToolError('CONFLICT', `${id} is a run of its own now`, {
      suggestion: `toolable resume ${id}`,
    })
  if (one.s === undefined) throw createSegmentConflict(getSegmentPaths(paths, one.j), id)
  throw new ToolError(
    'CONFLICT',
    `${id} is over: it has ${one.s === 'cancelled' ? 'been cancelled' : one.s}`,
    { suggestion: 'toolable workflow list' },
  )
}

// A list that is read meanwhile looks at the segment itself.
const INDEX_DELAY_MS = 100
/** A segment that is longer takes no more executions. */
const MAX_SEGMENT_BYTES = 32 * MEBIBYTE

/** A file of records that is ours, with its lock and its part of the index. */
export type JournalSegment = {
  readonly name: string
  readonly journal: Pick<Journal, 'append' | 'appendLine' | 'synced' | 'whenSynced'>
  /** What stood in it, where it was read. */
  readonly records: readonly JournalRecord[]
  /** It takes no more executions: it is long, or was lost. */
  readonly isFull: boolean
  /** Executions that are not over. */
  live: number
  /** Writes down a definition, once. */
  define(hash: string, definition: Workflow): void
  /** Has the index say what was appended at a position, when it is on the disk. */
  note(
    position: number,
    begin: Pick<BeginRecord, 'w' | 'n' | 'h' | 'at'>,
    end?: { readonly s: EndState | 'moved'; readonly at: string },
  ): void
  /** Brings the index up to what is on the disk. */
  writeIndex(): void
  /** Waits for the disk, brings the index up to date and gives the lock back. */
  close(): Promise<void>
}

/**
 * Takes a segment, new or old, and opens it. Throws CONFLICT while somebody has it, and what
 * `openJournal` throws.
 */
export async function openSegment(
  paths: InlinePaths,
  name: string,
  { read = false } = {},
): Promise<JournalSegment> {
  const files = getSegmentPaths(paths, name)
  const lock = lockSegment(files)
  try {
    const journal = await openJournal(files.journal, { read, onDurable: () => schedule() })
    const defined = new Set(
      journal.records.flatMap((record) => (record.t === 'define' ? [record.h] : [])),
    )
    let waiting: { readonly position: number; readonly line: string }[] = []
    let covered = journal.durable.size
    let timer: NodeJS.Timeout | undefined
    const writeIndex = (): void => {
      clearTimeout(timer)
      timer = undefined
      const { position, size } = journal.durable
      if (size <= covered) return
      let text = ''
      let count = 0
      while (count < waiting.length && waiting[count]!.position <= position)
        text += waiting[count++]!.line
      try {
        appendToIndex(paths, text + serializeCoveredRange({ j: name, from: covered, to: size }))
        covered = size
        waiting = waiting.slice(count)
      } catch {
        /* whoever reads it reads the segment then */
      }
    }
    const schedule = (): void => {
      if (waiting.length > 0) timer ??= setTimeout(writeIndex, INDEX_DELAY_MS).unref()
    }
    const check = (): void => {
      try {
        lock.check()
      } catch (error) {
        journal.poison(error as ToolError)
      }
    }
    const segment: JournalSegment = {
      name,
      records: journal.records,
      journal: {
        append: journal.append,
        appendLine: journal.appendLine,
        synced(position) {
          check()
          return journal.synced(position)
        },
        whenSynced(position, settle) {
          check()
          journal.whenSynced(position, settle)
        },
      },
      get isFull() {
        return journal.durable.size > MAX_SEGMENT_BYTES || journal.failure !== undefined
      },
      live: 0,
      define(hash, definition) {
        if (defined.has(hash)) return
        journal.append({ t: 'define', h: hash, d: definition })
        defined.add(hash)
      },
      note(position, begin, end) {
        waiting.push({ position, line: serializeIndexedExecution(begin, name, end) })
      },
      writeIndex,
      async close() {
        try {
          await journal.synced()
          writeIndex()
        } finally {
          clearTimeout(timer)
          await journal.close().finally(lock.release)
        }
      },
    }
    return segment
  } catch (error) {
    lock.release()
    throw error
  }
}
