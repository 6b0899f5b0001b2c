import { lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../../../contract/json.ts'
import { isOver, RUN_STATES } from '../../../../contract/run-state.ts'
import type { RunState } from '../../../../contract/run-state.ts'
import { isRunId } from '../../../../runner/folder/run-id.ts'
import { writeAtomically } from '../../../../runner/folder/write-atomically.ts'
import type { RunRow } from '../../../model/wire/run-row.ts'
import { changedAt } from '../changed-at.ts'
import { keepText } from '../row/keep-text.ts'
import { startSlices } from '../slices.ts'
import type { NewEntry, RunIndex } from './run-index.ts'

/** Goes up when a row is made in another way: what older ones have kept counts no more. */
const VERSION = 1
const FOLDER = '.cache'
const FILE = 'rows.jsonl'
const LARGEST = 256 * 1024 * 1024
/** Of fewer runs nobody keeps anything: they are read in no time. */
const FEWEST = 200

/** Rows of runs that are over, as they were read the last time. A run that has changed since is read again; the file can go at any time. */
export type RowCache = {
  /** When the runs that it knows were made, by id, in milliseconds. */
  readonly known: ReadonlyMap<string, number>
  /** What is kept of a run that is as it was. */
  find(id: string): NewEntry | undefined
}

type Kept = {
  readonly row: RunRow
  /** When its folder changed last. */ readonly changed: number
  /** The size of its record, and when that changed last. */ readonly size: number
  readonly written: number
  readonly planned: boolean
  /** It may have asked something. */ readonly asked: boolean
}

/** Reads what was kept in a folder of runs; what is damaged, or of somebody else, counts as nothing. */
export async function readRowCache(root: string): Promise<RowCache> {
  const kept = new Map<string, Kept>()
  const slices = startSlices()
  const [head, ...lines] = (await readText(join(root, FOLDER, FILE))).split('\n')
  if (head === headOf()) {
    for (const line of lines) {
      const one = readKept(line)
      if (one) kept.set(one.row.run_id, one)
      await slices.rest()
    }
  }
  return {
    known: new Map([...kept].map(([id, { row }]) => [id, Date.parse(row.created)])),
    find(id) {
      const one = kept.get(id)
      if (!one || changedAt(join(root, id)) !== one.changed) return undefined
      const stats = statQuietly(join(root, id, 'events.jsonl'))
      if (stats?.size !== one.size || stats.mtimeMs !== one.written) return undefined
      return { row: one.row, changed: one.changed, planned: one.planned, unscanned: one.asked }
    },
  }
}

/** Keeps the rows of an index for the next time. Never throws: whoever cannot write reads a little longer. */
export async function writeRowCache(
  root: string,
  index: RunIndex,
  asked: (id: string) => boolean,
): Promise<void> {
  if (index.size < FEWEST) return
  const slices = startSlices()
  const lines = [headOf()]
  try {
    for (const { row, changed, planned, unscanned, left } of [...index.all()]) {
      if (row.light || row.tool === '?' || !isOver(row.state) || left || changed === 0) continue
      const stats = statQuietly(join(root, row.run_id, 'events.jsonl'))
      if (stats)
        lines.push(
          JSON.stringify({
            row,
            changed,
            size: stats.size,
            written: stats.mtimeMs,
            planned,
            asked: unscanned || asked(row.run_id),
          } satisfies Kept),
        )
      await slices.rest()
    }
    const { mkdir } = await import('node:fs/promises')
    await mkdir(join(root, FOLDER), { mode: 0o700 }).catch(() => undefined)
    if (lstatSync(join(root, FOLDER)).isDirectory())
      writeAtomically(join(root, FOLDER, FILE), `${lines.join('\n')}\n`)
  } catch {
    /* a full disk, or a folder that is not ours */
  }
}

function headOf(): string {
  return JSON.stringify({ toolable: 'rows', v: VERSION })
}

function readKept(line: string): Kept | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  return isObject(value) &&
    isRow(value['row']) &&
    [value['changed'], value['size'], value['written']].every(Number.isFinite)
    ? { ...(value as unknown as Kept), row: once(value['row']) }
    : undefined
}

// Thousands of rows share a few words.
function once(row: RunRow): RunRow {
  const { tool, workflow, caller, code } = row
  return {
    ...row,
    tool: keepText(tool, 200),
    ...(workflow !== undefined && { workflow: keepText(workflow, 200) }),
    ...(caller !== undefined && { caller: keepText(caller, 100) }),
    ...(code !== undefined && { code: keepText(code, 60) }),
  }
}

function isRow(row: unknown): row is RunRow {
  return (
    isObject(row) &&
    isRunId(String(row['run_id'])) &&
    typeof row['tool'] === 'string' &&
    (RUN_STATES as readonly unknown[]).includes(row['state']) &&
    isOver(row['state'] as RunState) &&
    isTime(row['created']) &&
    [row['questions'], row['artifacts'], row['attempt']].every(Number.isInteger)
  )
}

function isTime(text: unknown): boolean {
  const at = typeof text === 'string' ? Date.parse(text) : NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === text
}

async function readText(file: string): Promise<string> {
  const { openOrdinary } = await import('../../../../runner/log/open-ordinary.ts')
  const opened = await openOrdinary(file).catch(() => undefined)
  if (!opened) return ''
  try {
    return (await opened.stat()).size > LARGEST ? '' : await opened.readFile('utf8')
  } catch {
    return ''
  } finally {
    await opened.close()
  }
}

function statQuietly(
  path: string,
): { readonly size: number; readonly mtimeMs: number } | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
