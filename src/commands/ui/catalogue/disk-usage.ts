import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { isOver } from '../../../contract/run-state.ts'
import type { DoctorReport } from '../../../views/model/wire/others.ts'
import type { RunRow } from '../../../views/model/wire/run-row.ts'

/** A block is what the kernel counts in, whatever the file system. */
const BLOCK = 512
/** So much of one run is looked at. */
const MOST_ENTRIES = 20_000
/** Milliseconds that somebody waits for a count; the rest is counted meanwhile, and told the next time. */
const PATIENCE = 3000
const DAY_MS = 24 * 3600 * 1000
/** From this age on a run is old. */
const OLD_DAYS = 7

/** The bytes that a folder takes on the disk, links not followed; of one with very many files the first ones. What cannot be read counts nothing. */
export async function bytesOf(folder: string): Promise<number> {
  let bytes = 0
  let entries = 0
  const waiting = [folder]
  for (
    let path = waiting.pop();
    path !== undefined && entries < MOST_ENTRIES;
    path = waiting.pop()
  ) {
    try {
      for await (const entry of await opendir(path)) {
        if ((entries += 1) > MOST_ENTRIES) break
        const inside = join(path, entry.name)
        if (entry.isDirectory()) waiting.push(inside)
        else bytes += (await lstat(inside)).blocks * BLOCK
      }
    } catch {
      /* it is gone, or not ours to read */
    }
  }
  return bytes
}

/** Counts what runs take on the disk, in the background and each run that is over only once. */
export function createDiskUsage(
  root: string,
): (rows: readonly RunRow[], now: number) => Promise<DoctorReport['disk']> {
  const counted = new Map<string, { readonly ended: string | undefined; readonly bytes: number }>()
  let counting: Promise<void> | undefined

  const countAll = async (rows: readonly RunRow[]): Promise<void> => {
    const there = new Set(rows.map(({ run_id: id }) => id))
    for (const id of counted.keys()) if (!there.has(id)) counted.delete(id)
    for (const { run_id: id, ended, state } of rows) {
      const before = counted.get(id)
      if (before && isOver(state) && before.ended === ended) continue
      counted.set(id, { ended, bytes: await bytesOf(join(root, id)) })
    }
  }
  return async (all, now) => {
    const rows = all.filter(({ light }) => !light)
    counting ??= countAll(rows).finally(() => (counting = undefined))
    await atMost(counting, PATIENCE)
    const old = rows.filter(
      ({ state, created, ended }) =>
        isOver(state) && Date.parse(ended ?? created) < now - OLD_DAYS * DAY_MS,
    )
    const sum = (some: readonly RunRow[]): number =>
      some.reduce((bytes, { run_id: id }) => bytes + (counted.get(id)?.bytes ?? 0), 0)
    return {
      folder: root,
      runs: rows.length,
      bytes: sum(rows),
      old: { runs: old.length, bytes: sum(old), days: OLD_DAYS },
    }
  }
}

async function atMost(work: Promise<void>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  await Promise.race([
    work,
    new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds))),
  ])
  clearTimeout(timer)
}
