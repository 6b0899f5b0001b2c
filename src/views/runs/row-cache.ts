/**
 * Rows of finished runs in a file, for the next start. The file can be deleted at any time.
 */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { RunState } from '../../protocol/run-state.ts'
import { isFinished, RUN_STATES } from '../../protocol/run-state.ts'
import { openRegularFile } from '../../runner/files.ts'
import { isRunId } from '../../runner/run-paths.ts'
import { TimeSlices } from '../../util/async.ts'
import { statOrUndefined } from '../../util/files.ts'
import { writeFileAtomic } from '../../util/lock-file.ts'
import { MEBIBYTE } from '../../util/units.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import type { RunRow } from '../model/api.ts'
import type { NewRunIndexEntry, RunIndex } from './run-index.ts'
import { internText } from './run-row.ts'

/** Goes up when a row is made in another way: what older ones have kept counts no more. */
const CACHE_VERSION = 1
const CACHE_FOLDER = '.cache'
const CACHE_FILE = 'rows.jsonl'
const MAX_CACHE_BYTES = 256 * MEBIBYTE
/** Fewer runs are read fast enough without a cache. */
const MIN_CACHED_RUNS = 200

/**
 * Rows of runs that are over, as they were read the last time. A run that has changed since is read
 * again; the file can go at any time.
 */
export type RowCache = {
  /** When the runs that it knows were made, by id, in milliseconds. */
  readonly known: ReadonlyMap<string, number>
  /** What is kept of a run that is as it was. */
  find(id: string): NewRunIndexEntry | undefined
}

type CachedRow = {
  readonly row: RunRow
  /** When its folder changed last. */ readonly changed: number
  /** The size of its record, and when that changed last. */ readonly size: number
  readonly written: number
  readonly planned: boolean
  /** It may have asked something. */ readonly asked: boolean
}

/** Reads the cache of a folder of runs; a damaged one counts as empty. */
export async function readRowCache(root: string): Promise<RowCache> {
  const kept = new Map<string, CachedRow>()
  const slices = new TimeSlices()
  const [head, ...lines] = (await readCacheText(join(root, CACHE_FOLDER, CACHE_FILE))).split('\n')
  if (head === renderCacheHead()) {
    for (const line of lines) {
      const one = parseCachedRow(line)
      if (one) kept.set(one.row.run_id, one)
      await slices.rest()
    }
  }
  return {
    known: new Map([...kept].map(([id, { row }]) => [id, Date.parse(row.created)])),
    find(id) {
      const one = kept.get(id)
      if (!one || statOrUndefined(join(root, id))?.mtimeMs !== one.changed) return undefined
      const stats = statOrUndefined(join(root, id, 'events.jsonl'))
      if (stats?.size !== one.size || stats.mtimeMs !== one.written) return undefined
      return { row: one.row, changed: one.changed, planned: one.planned, unscanned: one.asked }
    },
  }
}

/**
 * Writes the rows of an index for the next start. Never throws: without a cache the next start is
 * slower.
 */
export async function writeRowCache(
  root: string,
  index: RunIndex,
  asked: (id: string) => boolean,
): Promise<void> {
  if (index.size < MIN_CACHED_RUNS) return
  const slices = new TimeSlices()
  const lines = [renderCacheHead()]
  try {
    for (const { row, changed, planned, unscanned, left } of [...index.all()]) {
      if (row.light || row.tool === '?' || !isFinished(row.state) || left || changed === 0) continue
      const stats = statOrUndefined(join(root, row.run_id, 'events.jsonl'))
      if (stats)
        lines.push(
          JSON.stringify({
            row,
            changed,
            size: stats.size,
            written: stats.mtimeMs,
            planned,
            asked: unscanned || asked(row.run_id),
          } satisfies CachedRow),
        )
      await slices.rest()
    }
    const { mkdir } = await import('node:fs/promises')
    await mkdir(join(root, CACHE_FOLDER), { mode: 0o700 }).catch(() => undefined)
    if (lstatSync(join(root, CACHE_FOLDER)).isDirectory())
      writeFileAtomic(join(root, CACHE_FOLDER, CACHE_FILE), `${lines.join('\n')}\n`)
  } catch {
    /* a full disk, or a folder that is not ours */
  }
}

function renderCacheHead(): string {
  return JSON.stringify({ toolable: 'rows', v: CACHE_VERSION })
}

function parseCachedRow(line: string): CachedRow | undefined {
  const value = parseJsonObject(line)
  if (!value || !isFinishedRow(value['row'])) return undefined
  if (![value['changed'], value['size'], value['written']].every(Number.isFinite)) return undefined
  return { ...(value as unknown as CachedRow), row: internRow(value['row']) }
}

// Thousands of rows share a few words.
function internRow(row: RunRow): RunRow {
  const { tool, workflow, caller, code } = row
  return {
    ...row,
    tool: internText(tool, 200),
    ...compact({
      workflow: workflow && internText(workflow, 200),
      caller: caller && internText(caller, 100),
      code: code && internText(code, 60),
    }),
  }
}

function isFinishedRow(row: unknown): row is RunRow {
  return (
    isObject(row) &&
    isRunId(String(row['run_id'])) &&
    typeof row['tool'] === 'string' &&
    (RUN_STATES as readonly unknown[]).includes(row['state']) &&
    isFinished(row['state'] as RunState) &&
    isIsoTime(row['created']) &&
    [row['questions'], row['artifacts'], row['attempt']].every(Number.isInteger)
  )
}

function isIsoTime(text: unknown): boolean {
  const at = typeof text === 'string' ? Date.parse(text) : NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === text
}

async function readCacheText(file: string): Promise<string> {
  const opened = await openRegularFile(file).catch(() => undefined)
  if (!opened) return ''
  try {
    return (await opened.stat()).size > MAX_CACHE_BYTES ? '' : await opened.readFile('utf8')
  } catch {
    return ''
  } finally {
    await opened.close()
  }
}
