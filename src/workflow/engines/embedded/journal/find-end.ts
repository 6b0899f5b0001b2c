import type { FileHandle } from 'node:fs/promises'
import { checkHeader, HEADER } from './read-journal.ts'

const CHUNK = 64 * 1024
const LINE_FEED = 0x0a

/** Where the last whole line of a journal ends, without reading what stands before it. Throws CONFIG where the first line is not ours. */
export async function findEnd(file: FileHandle, path: string, size: number): Promise<number> {
  const end = await findLastLine(file, size)
  if (end === 0) return 0
  const head = Buffer.alloc(Math.min(end, 4 * HEADER.length))
  await file.read(head, 0, head.length, 0)
  checkHeader(head.toString('utf8', 0, Math.max(0, head.indexOf(LINE_FEED))), path)
  return end
}

async function findLastLine(file: FileHandle, size: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(CHUNK)
  for (let to = size; to > 0;) {
    const from = Math.max(0, to - CHUNK)
    const { bytesRead } = await file.read(chunk, 0, to - from, from)
    const at = chunk.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
    if (at !== -1) return from + at + 1
    to = from
  }
  return 0
}
