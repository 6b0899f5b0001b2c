/**
 * Artifacts that a run left: listing, opening and verifying the kept copies without following
 * links.
 */

import type { Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readdir } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { openBeneath, PathRefusedError } from '../../runner/artifacts.ts'
import { hasErrorCode } from '../../util/files.ts'
import { KIBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { asNumber, asString, compact, isObject } from '../../util/values.ts'
import type { ArtifactVerification, ShownArtifact } from '../model/api.ts'
import { internText } from './run-row.ts'

/** What a run says it has left, and whether a copy of each is there. */
export async function showArtifacts(
  artifacts: readonly unknown[],
  folder: string,
  attempt: number,
): Promise<readonly ShownArtifact[]> {
  return Promise.all(
    artifacts.map(async (one, index) => {
      const shown = describeArtifact(one, index, attempt)
      return { ...shown, kept: shown.path !== undefined && (await isKept(folder, shown.path)) }
    }),
  )
}

function describeArtifact(
  one: unknown,
  index: number,
  attempt: number,
): Omit<ShownArtifact, 'kept'> {
  const fields: JsonObject = isObject(one) ? one : { path: one }
  const [path, uri] = [asString(fields['path']), asString(fields['uri'])]
  const lastPart = (path ?? uri)?.split('/').filter(Boolean).at(-1)
  const type = asString(fields['type'])
  return compact({
    index,
    attempt,
    name: internText(asString(fields['name']) || (lastPart ?? `artifact ${index + 1}`), 300),
    path,
    uri,
    bytes: asNumber(fields['bytes']),
    sha256: asString(fields['sha256']),
    type: typeof fields['files'] === 'number' ? 'folder' : type && internText(type, 100),
  })
}

/**
 * Where the copy of an artifact lies in the folder of copies, step by step; undefined for a path
 * that leads out of it.
 */
function toPathParts(path: string): readonly string[] | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..') || path.includes('\0')) return undefined
  return isAbsolute(path) ? ['outside', ...parts] : parts
}

/**
 * Opens the copy of an artifact; follows no link. Throws NOT_FOUND where there is none,
 * PRECONDITION for a folder.
 */
export async function openKeptArtifact(
  folder: string,
  { name, path }: Pick<ShownArtifact, 'name' | 'path'>,
): Promise<{ readonly file: FileHandle; readonly bytes: number }> {
  const steps = path === undefined ? undefined : toPathParts(path)
  if (!steps) throw new ToolError('NOT_FOUND', `no copy of '${name}' was kept`)
  const file = await openBeneath(folder, steps).catch((error: unknown) => {
    if (error instanceof PathRefusedError)
      throw new ToolError('NOT_FOUND', `the copy of '${name}' ${error.message}`)
    throw error
  })
  const stats = await file.stat()
  if (stats.isFile() && stats.nlink === 1) return { file, bytes: stats.size }
  await file.close()
  throw new ToolError(
    'PRECONDITION',
    stats.isDirectory()
      ? `'${name}' is a folder, and cannot be had in one piece`
      : `the copy of '${name}' is no file that a runner made`,
    compact({ suggestion: stats.isDirectory() ? `Look into it: ${folder}` : undefined }),
  )
}

async function isKept(folder: string, path: string): Promise<boolean> {
  try {
    const { file } = await openKeptArtifact(folder, { name: path, path })
    await file.close()
    return true
  } catch {
    return false
  }
}

const CHUNK_BYTES = 256 * KIBIBYTE
const MAX_FILES = 10_000
const MAX_FOLDER_DEPTH = 64

/**
 * Hashes the copy of an artifact again and compares. `unknown`: there is no recorded hash, or no
 * copy.
 */
export async function verifyArtifact(
  folder: string,
  { path, sha256, type }: Pick<ShownArtifact, 'path' | 'sha256' | 'type'>,
  signal?: AbortSignal,
): Promise<ArtifactVerification> {
  const steps = path === undefined ? undefined : toPathParts(path)
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
    if (error instanceof PathRefusedError || hasErrorCode(error, 'ENOENT')) return { state: 'gone' }
    throw error
  }
}

async function hashFile(
  root: string,
  steps: readonly string[],
  hash: Hash,
  signal: AbortSignal | undefined,
): Promise<string> {
  const file = await openBeneath(root, steps)
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.nlink > 1)
      throw new PathRefusedError('is no file that a runner made')
    await hashInto(file, hash, signal)
    return hash.digest('hex')
  } finally {
    await file.close()
  }
}

async function hashInto(
  file: FileHandle,
  hash: Hash,
  signal: AbortSignal | undefined,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let position = 0; ;) {
    signal?.throwIfAborted()
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) return
    position += bytesRead
    hash.update(buffer.subarray(0, bytesRead))
  }
}

// As it was hashed when it was kept: a list of its files, a line for each, in the order of those
// lines.
async function hashFolder(
  root: string,
  steps: readonly string[],
  makeHash: () => Hash,
  signal: AbortSignal | undefined,
): Promise<string> {
  const list: string[] = []
  const visit = async (inner: readonly string[]): Promise<void> => {
    await (await openBeneath(root, [...steps, ...inner])).close()
    for (const entry of await readdir(join(root, ...steps, ...inner), { withFileTypes: true })) {
      const path = [...inner, entry.name]
      if (path.length > MAX_FOLDER_DEPTH || list.length > MAX_FILES)
        throw new PathRefusedError('has too many files')
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
