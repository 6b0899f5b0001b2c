import { fstatSync, readFileSync, statfsSync, statSync } from 'node:fs'
import type { ProcessRow } from '../process-table.ts'

const MEBIBYTE = 1024 * 1024
const KIBIBYTE = 1024
/** What a file in memory costs besides its content. */
const INODE = KIBIBYTE
const PAGE_SIZE_KEY = 6n
const BLOCK = 512

let pageSize: number | undefined

/**
 * Mebibytes of memory of these processes together, of the temporary folders in memory that they see, and of the file in memory that they read from. What they share is counted once, but only looked at
 * where it matters: while a sum that counts it many times stays below `allowed`, that sum is given.
 */
export function measureMemory(
  rows: readonly ProcessRow[],
  folders: readonly string[],
  input: number | undefined,
  allowed: number,
): number {
  const inFiles =
    rows.length === 0
      ? 0
      : folders.reduce(
          (sum, folder) => sum + sizeInMemory(rows, folder),
          input === undefined ? 0 : fstatSync(input).blocks * BLOCK,
        )
  const most =
    rows.reduce((sum, { pages }) => sum + pages, 0) * (pageSize ??= readPageSize()) + inFiles
  if (most <= allowed * MEBIBYTE) return most / MEBIBYTE
  return (
    (rows.reduce((sum, row) => sum + (readShare(row.pid) ?? row.pages * pageSize!), 0) + inFiles) /
    MEBIBYTE
  )
}

// What is read from files and could be dropped at any time does not count.
function readShare(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    const parts = ['Pss_Anon', 'Pss_Shmem', 'SwapPss'].map((name) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN),
    )
    const sum = parts.reduce((total, part) => total + part, 0) * KIBIBYTE
    return Number.isNaN(sum) ? undefined : sum
  } catch {
    return undefined
  }
}

function sizeInMemory(rows: readonly ProcessRow[], folder: string): number {
  for (const { pid } of rows) {
    try {
      // Before it has its own, it sees the one of the machine.
      if (statSync(`/proc/${pid}/root${folder}`).dev === deviceOf(folder)) return 0
      const { bsize, blocks, bfree, files, ffree } = statfsSync(`/proc/${pid}/root${folder}`)
      return (blocks - bfree) * bsize + (files - ffree) * INODE
    } catch {
      // The next one may let us look.
    }
  }
  return 0
}

const devices = new Map<string, number | undefined>()

function deviceOf(folder: string): number | undefined {
  if (!devices.has(folder)) devices.set(folder, statSync(folder, { throwIfNoEntry: false })?.dev)
  return devices.get(folder)
}

// From what the kernel told our own process at its start.
function readPageSize(): number {
  try {
    const words = readFileSync('/proc/self/auxv')
    for (let at = 0; at + 16 <= words.length; at += 16)
      if (words.readBigUInt64LE(at) === PAGE_SIZE_KEY) return Number(words.readBigUInt64LE(at + 8))
  } catch {
    // As almost everywhere.
  }
  return 4096
}
