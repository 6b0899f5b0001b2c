import type { ToolError } from '../../../../contract/tool-error.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'
import { openJournal } from '../journal/open-journal.ts'
import type { Journal } from '../journal/open-journal.ts'
import type { BeginRecord, EndState, JournalRecord } from '../journal/record.ts'
import { writeCovered, writeListed } from './index-line.ts'
import { segmentPaths } from './light-paths.ts'
import type { LightPaths } from './light-paths.ts'
import { appendToIndex } from './read-folder.ts'
import { lockSegment } from './segment-lock.ts'

// A list that is read meanwhile looks at the segment itself.
const INDEX_AFTER_MS = 100
/** A segment that is longer takes no more executions. */
export const FULL_BYTES = 32 * 1024 * 1024

/** A file of records that is ours, with its lock and its part of the index. */
export type Segment = {
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

/** Takes a segment, new or old, and opens it. Throws CONFLICT while somebody has it, and what `openJournal` throws. */
export async function openSegment(
  paths: LightPaths,
  name: string,
  { read = false } = {},
): Promise<Segment> {
  const files = segmentPaths(paths, name)
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
        appendToIndex(paths, text + writeCovered({ j: name, from: covered, to: size }))
        covered = size
        waiting = waiting.slice(count)
      } catch {
        /* whoever reads it reads the segment then */
      }
    }
    const schedule = (): void => {
      if (waiting.length > 0) timer ??= setTimeout(writeIndex, INDEX_AFTER_MS).unref()
    }
    const check = (): void => {
      try {
        lock.check()
      } catch (error) {
        journal.poison(error as ToolError)
      }
    }
    const segment: Segment = {
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
        return journal.durable.size > FULL_BYTES || journal.failure !== undefined
      },
      live: 0,
      define(hash, definition) {
        if (defined.has(hash)) return
        journal.append({ t: 'define', h: hash, d: definition })
        defined.add(hash)
      },
      note(position, begin, end) {
        waiting.push({ position, line: writeListed(begin, name, end) })
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
