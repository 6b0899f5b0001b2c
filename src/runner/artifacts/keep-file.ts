import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Refusal } from './open-inside.ts'

const CHUNK = 256 * 1024

/** Bytes that may still be read in a run, and in copies be written. */
export type Budget = { read: number; copied: number }

/** A file that was read to its end. */
export type KeptFile = {
  readonly sha256: string
  readonly bytes: number
  /** Why there is no copy. */ readonly notKept?: string
}

/** Hashes an open file, and copies what was hashed, in one pass and in little memory. Throws a Refusal for what is no ordinary file of its own, and when the signal comes. */
export async function keepFile(
  file: FileHandle,
  copy: string,
  budget: Budget,
  hash: Hash,
  signal?: AbortSignal,
): Promise<KeptFile> {
  const { nlink, size } = await file.stat()
  if (nlink > 1) throw new Refusal('has other names (hard links), which may lie outside')
  if (size > budget.read) throw new Refusal(`has ${size} bytes, too many to be hashed`)
  let target: FileHandle | undefined
  let notKept = size > budget.copied ? 'it is too large for a copy' : undefined
  let bytes = 0
  const giveUpCopy = async (error: unknown): Promise<void> => {
    notKept = (error as NodeJS.ErrnoException).code ?? (error as Error).message
    await target?.close().catch(() => undefined)
    target = undefined
    await rm(copy, { force: true }).catch(() => undefined)
  }
  try {
    if (notKept === undefined) {
      try {
        await mkdir(dirname(copy), { recursive: true })
        target = await open(copy, 'wx', 0o600)
      } catch (error) {
        // It was announced by itself and with its folder, and is there already.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
          notKept = (error as NodeJS.ErrnoException).code ?? (error as Error).message
      }
    }
    const buffer = Buffer.allocUnsafe(CHUNK)
    for (;;) {
      // A file can be larger than any patience, and take no place on the disk.
      if (signal?.aborted) throw new Refusal('was not hashed before the run was cancelled')
      const { bytesRead } = await file.read(buffer, 0, CHUNK, bytes)
      if (bytesRead === 0) break
      bytes += bytesRead
      if (bytes > budget.read) throw new Refusal('grows while it is read')
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      await target?.writeFile(chunk).catch(giveUpCopy)
    }
    budget.read -= bytes
    if (target) budget.copied -= bytes
    return { sha256: hash.digest('hex'), bytes, ...(notKept !== undefined && { notKept }) }
  } catch (error) {
    if (target) await rm(copy, { force: true }).catch(() => undefined)
    throw error
  } finally {
    await target?.close().catch(() => undefined)
  }
}
