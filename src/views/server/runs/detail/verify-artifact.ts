import type { FileHandle } from 'node:fs/promises'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hash } from 'node:crypto'
import { openInside, Refusal } from '../../../../runner/artifacts/open-inside.ts'
import type { ShownArtifact, Verdict } from '../../../model/wire/run-detail.ts'
import { stepsOf } from './kept-artifacts.ts'

const CHUNK = 256 * 1024
const MOST_FILES = 10_000
const DEEPEST = 64

/** Hashes the copy of an artifact again, and compares. `unknown`: nobody said what it should be, or it lies elsewhere. */
export async function verifyArtifact(
  folder: string,
  { path, sha256, type }: Pick<ShownArtifact, 'path' | 'sha256' | 'type'>,
  signal?: AbortSignal,
): Promise<Verdict> {
  const steps = path === undefined ? undefined : stepsOf(path)
  if (!steps) return { state: 'unknown' }
  try {
    const { createHash } = await import('node:crypto')
    const makeHash = (): Hash => createHash('sha256')
    const found =
      type === 'folder'
        ? await hashFolder(folder, steps, makeHash, signal)
        : await hashFile(folder, steps, makeHash(), signal)
    if (sha256 === undefined) return { state: 'unknown', sha256: found }
    return { state: found === sha256.toLowerCase() ? 'same' : 'changed', sha256: found }
  } catch (error) {
    if (error instanceof Refusal || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return { state: 'gone' }
    throw error
  }
}

async function hashFile(
  root: string,
  steps: readonly string[],
  hash: Hash,
  signal: AbortSignal | undefined,
): Promise<string> {
  const file = await openInside(root, steps)
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.nlink > 1) throw new Refusal('is no file that a runner made')
    await readInto(file, hash, signal)
    return hash.digest('hex')
  } finally {
    await file.close()
  }
}

async function readInto(
  file: FileHandle,
  hash: Hash,
  signal: AbortSignal | undefined,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK)
  for (let position = 0; ;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position)
    if (bytesRead === 0) return
    position += bytesRead
    hash.update(buffer.subarray(0, bytesRead))
  }
}

// As it was hashed when it was kept: a list of its files, a line for each, in the order of those lines.
async function hashFolder(
  root: string,
  steps: readonly string[],
  makeHash: () => Hash,
  signal: AbortSignal | undefined,
): Promise<string> {
  const list: string[] = []
  const visit = async (inner: readonly string[]): Promise<void> => {
    await (await openInside(root, [...steps, ...inner])).close()
    for (const entry of await readdir(join(root, ...steps, ...inner), { withFileTypes: true })) {
      const path = [...inner, entry.name]
      if (path.length > DEEPEST || list.length > MOST_FILES) throw new Refusal('has too many files')
      if (entry.isDirectory()) await visit(path)
      else
        list.push(
          `${await hashFile(root, [...steps, ...path], makeHash(), signal)}  ${path.join('/')}\n`,
        )
    }
  }
  await visit([])
  return makeHash().update(list.sort().join('')).digest('hex')
}
