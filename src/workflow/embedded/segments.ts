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
import type { InlinePaths, SegmentLock } from './segment-files.ts'
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

const TIDY_INTERVAL_MS = 1000
/** A list that is read before the index is written reads the segment itself. */
const INDEX_DELAY_MS = 100
/** A segment that is longer takes no more executions. */
const MAX_SEGMENT_BYTES = 32 * MEBIBYTE

/** A segment that was taken over, with the executions in it that are not over. */
type AdoptedSegment = {
  readonly segment: JournalSegment
  readonly executions: readonly ExecutionRecords[]
}

/**
 * The segments of one engine: the one for new executions, and those with executions to finish.
 * Opens no file before one is needed.
 */
export class SegmentPool {
  readonly #open = new Set<JournalSegment>()
  readonly #timer = setInterval(() => this.#tidy(), TIDY_INTERVAL_MS).unref()
  #newest: JournalSegment | undefined
  #opening: Promise<JournalSegment> | undefined

  constructor(
    private readonly paths: InlinePaths,
    private readonly now: () => number,
  ) {}

  /** The segment for new executions; undefined when it must be opened first. */
  current(): JournalSegment | undefined {
    return this.#newest && !this.#newest.isFull ? this.#newest : undefined
  }

  /** Opens the segment for new executions. */
  next(): Promise<JournalSegment> {
    return (this.#opening ??= this.#openNext().finally(() => (this.#opening = undefined)))
  }

  /**
   * Takes over segments whose owners are gone: all, or the one with a certain execution. The caller
   * decreases `live` of each when its executions run.
   */
  async takeOver(
    id: string | undefined,
    live: ReadonlyMap<string, unknown>,
  ): Promise<readonly AdoptedSegment[]> {
    const listed = [...(await readExecutionIndex(this.paths)).values()].filter(
      (one) => one.s === undefined && !live.has(one.w) && (id === undefined || one.w === id),
    )
    const names = new Set(listed.map(({ j }) => j))
    if (id !== undefined && names.size === 0) await throwNotTakeable(this.paths, id)
    const adopted: AdoptedSegment[] = []
    for (const name of names) {
      const files = getSegmentPaths(this.paths, name)
      if ([...this.#open].some((segment) => segment.name === name)) continue
      const owner = getSegmentOwner(files)
      if (owner && id !== undefined) throw createSegmentConflict(files, id, owner)
      const segment = owner ? undefined : await this.#tryOpen(name, id === undefined)
      if (!segment) continue
      segment.live += 1
      this.#open.add(segment)
      const executions = [...groupByExecution(segment.records, files.journal).values()]
      adopted.push({ segment, executions: executions.filter(isUnfinished) })
    }
    return adopted
  }

  writeIndex(): void {
    for (const segment of this.#open) segment.writeIndex()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#opening?.catch(() => undefined)
    const results = await Promise.allSettled([...this.#open].map((segment) => segment.close()))
    this.#open.clear()
    this.#newest = undefined
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async #openNext(): Promise<JournalSegment> {
    const free = await takeFreeSegment(this.paths)
    this.#newest = free ?? (await openSegment(this.paths, createSegmentName(this.now())))
    this.#open.add(this.#newest)
    return this.#newest
  }

  async #tryOpen(name: string, mayBeTaken: boolean): Promise<JournalSegment | undefined> {
    try {
      return await openSegment(this.paths, name, { read: true })
    } catch (error) {
      // Another process was faster, and continues them.
      if (mayBeTaken && ToolError.is(error) && error.code === 'CONFLICT') return undefined
      throw error
    }
  }

  // Gives back segments that are finished and take nothing new.
  #tidy(): void {
    for (const segment of this.#open) {
      if ((segment === this.#newest && !segment.isFull) || segment.live > 0) continue
      this.#open.delete(segment)
      void segment.close().catch(() => undefined)
    }
  }
}

// A process that does little leaves a file that the next one continues, so that there are fewer
// files than processes.
async function takeFreeSegment(paths: InlinePaths): Promise<JournalSegment | undefined> {
  const listed = [...(await readExecutionIndex(paths)).values()]
  const unfinished = new Set(listed.filter((one) => one.s === undefined).map(({ j }) => j))
  for (const name of listSegments(paths).reverse()) {
    const files = getSegmentPaths(paths, name)
    if (unfinished.has(name) || getSegmentOwner(files)) continue
    const size = statSync(files.journal, { throwIfNoEntry: false })?.size ?? MAX_SEGMENT_BYTES
    if (size >= MAX_SEGMENT_BYTES / 2) continue
    const taken = await openSegment(paths, name).catch(() => undefined)
    if (taken) return taken
  }
  return undefined
}

/** Whether an execution can be continued: it has not ended, and has not become a run. */
export function isUnfinished({ end, records }: ExecutionRecords): boolean {
  return !end && !records.some(({ t }) => t === 'moved')
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

/**
 * Takes a segment, new or old, and opens it. Throws CONFLICT while another process has it, and what
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
    const journal: Journal = await openJournal(files.journal, {
      read,
      onDurable: () => segment.scheduleIndex(),
    })
    const segment = new JournalSegment(paths, name, journal, lock)
    return segment
  } catch (error) {
    lock.release()
    throw error
  }
}

/** A file of records of this process, with its lock and its part of the index. */
export class JournalSegment {
  /** Executions that are not over. */
  live = 0
  readonly #defined: Set<string>
  #waiting: { readonly position: number; readonly line: string }[] = []
  #covered: number
  #timer: NodeJS.Timeout | undefined

  constructor(
    private readonly paths: InlinePaths,
    readonly name: string,
    private readonly journal: Journal,
    private readonly lock: SegmentLock,
  ) {
    this.#covered = journal.durable.size
    this.#defined = new Set(
      journal.records.flatMap((record) => (record.t === 'define' ? [record.h] : [])),
    )
  }

  /** What was in it, if it was read. */
  get records(): readonly JournalRecord[] {
    return this.journal.records
  }

  /** It takes no more executions: it is long, or was lost. */
  get isFull(): boolean {
    return this.journal.durable.size > MAX_SEGMENT_BYTES || this.journal.failure !== undefined
  }

  append(record: JournalRecord): number {
    return this.journal.append(record)
  }

  appendLine(line: string): number {
    return this.journal.appendLine(line)
  }

  synced(position?: number): Promise<void> {
    this.#checkLock()
    return this.journal.synced(position)
  }

  whenSynced(position: number | undefined, settle: (failure: ToolError | undefined) => void): void {
    this.#checkLock()
    this.journal.whenSynced(position, settle)
  }

  /** Appends a definition, once. */
  define(hash: string, definition: Workflow): void {
    if (this.#defined.has(hash)) return
    this.journal.append({ t: 'define', h: hash, d: definition })
    this.#defined.add(hash)
  }

  /** Adds to the index what was appended at a position, when it is on the disk. */
  note(
    position: number,
    begin: Pick<BeginRecord, 'w' | 'n' | 'h' | 'at'>,
    end?: { readonly s: EndState | 'moved'; readonly at: string },
  ): void {
    this.#waiting.push({ position, line: serializeIndexedExecution(begin, this.name, end) })
  }

  scheduleIndex(): void {
    if (this.#waiting.length > 0)
      this.#timer ??= setTimeout(() => this.writeIndex(), INDEX_DELAY_MS).unref()
  }

  /** Brings the index up to what is on the disk. */
  writeIndex(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { position, size } = this.journal.durable
    if (size <= this.#covered) return
    let text = ''
    let count = 0
    while (count < this.#waiting.length && this.#waiting[count]!.position <= position)
      text += this.#waiting[count++]!.line
    const range = { j: this.name, from: this.#covered, to: size }
    try {
      appendToIndex(this.paths, text + serializeCoveredRange(range))
      this.#covered = size
      this.#waiting = this.#waiting.slice(count)
    } catch {
      /* readers of the index read the segment then */
    }
  }

  /** Waits for the disk, brings the index up to date and gives the lock back. */
  async close(): Promise<void> {
    try {
      await this.journal.synced()
      this.writeIndex()
    } finally {
      clearTimeout(this.#timer)
      await this.journal.close().finally(this.lock.release)
    }
  }

  #checkLock(): void {
    try {
      this.lock.check()
    } catch (error) {
      this.journal.poison(error as ToolError)
    }
  }
}
