/**
 * Artifacts: hashes and copies the files a tool announced. Follows no links and touches nothing
 * outside the workspace and the granted paths.
 */

import type { createHash, Hash } from 'node:crypto'
import { constants } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, realpath, rm } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PathGrant } from '../process/grants.ts'
import { isLinux } from '../process/host.ts'
import { hasErrorCode, isPathInside } from '../util/files.ts'
import { GIBIBYTE, KIBIBYTE } from '../util/units.ts'
import type { JsonObject } from '../util/values.ts'
import { asString, compact, isObject } from '../util/values.ts'

type ArtifactLocations = {
  readonly workspace: string
  /** Where they may lie besides. */
  readonly allowed: readonly PathGrant[]
  /**
   * A folder for copies, which is emptied first: what a later attempt changes in the workspace does
   * not change them.
   */
  readonly into: string
  /** Aborted when the run is cancelled: what is not hashed by then is refused. */
  readonly signal?: AbortSignal
}

/**
 * A file that a tool made, or a folder: its hash is that of a list of its files, one line `<sha256>
 * <path>` each, in the order of their paths.
 */
type CollectedArtifact = {
  readonly path: string
  readonly name?: string
  readonly sha256: string
  readonly bytes: number
  /** For a folder. */ readonly files?: number
}
/** Something that a tool names elsewhere; it is not verified. */
type RemoteArtifact = { readonly uri: string; readonly name?: string }
type ArtifactProblem = { readonly path: string; readonly message: string }

const MAX_HASHED_BYTES = 64 * GIBIBYTE
const MAX_COPIED_BYTES = GIBIBYTE
const MAX_ARTIFACT_FILES = 10_000
const MAX_FOLDER_DEPTH = 64

type ArtifactCollector = {
  readonly budget: ArtifactBudget
  files: number
  readonly createHash: typeof createHash
  readonly signal: AbortSignal | undefined
  refuse(path: string, why: string): void
}

/**
 * Hashes and copies what a tool announced, when its tree is dead. What is no ordinary file or
 * folder in its workspace or in a place that it may write to is refused with a problem, and nothing
 * else is touched. Never throws.
 */
export async function collectArtifacts(
  { workspace, allowed, into, signal }: ArtifactLocations,
  announced: unknown,
): Promise<{
  readonly artifacts: readonly (CollectedArtifact | RemoteArtifact)[]
  readonly problems: readonly ArtifactProblem[]
}> {
  const problems: ArtifactProblem[] = []
  const artifacts: (CollectedArtifact | RemoteArtifact)[] = []
  const { createHash } = await import('node:crypto')
  const refuse = (path: string, why: string): void => {
    if (problems.length < MAX_ARTIFACT_FILES)
      problems.push({ path, message: `the artifact ${path} ${why}` })
  }
  const collector: ArtifactCollector = {
    budget: { read: MAX_HASHED_BYTES, copied: MAX_COPIED_BYTES },
    files: 0,
    createHash,
    signal,
    refuse,
  }
  await rm(into, { recursive: true, force: true }).catch(() => undefined)
  const roots = await resolveArtifactRoots(workspace, allowed)
  const seen = new Set<string>()
  for (const one of parseAnnouncedArtifacts(announced, refuse)) {
    if ('uri' in one) artifacts.push(one)
    else if (!seen.has(resolve(workspace, one.path))) {
      const collected = await collectArtifact(one, roots, into, collector)
      if (!collected) continue
      seen.add(resolve(workspace, one.path))
      artifacts.push(collected)
    }
  }
  return { artifacts, problems }
}

/**
 * A place that artifacts may lie in: as it is called, as it really is, and whether what is in it
 * counts too.
 */
type ArtifactRoot = {
  readonly called: readonly string[]
  readonly real: string
  readonly tree: boolean
}

async function resolveArtifactRoots(
  workspace: string,
  allowed: readonly PathGrant[],
): Promise<readonly ArtifactRoot[]> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path)
  const own = await real(workspace)
  const granted = await Promise.all(
    allowed.map(async ({ path, tree }) => ({ called: [path], real: await real(path), tree })),
  )
  // A grant had no links in it when it was given; the tool may have put one there, where it was
  // granted the folder around.
  return [
    { called: [...new Set([resolve(workspace), own])], real: own, tree: true },
    ...granted.filter((root) => root.real === root.called[0]),
  ]
}

async function collectArtifact(
  one: AnnouncedArtifact,
  roots: readonly ArtifactRoot[],
  into: string,
  collector: ArtifactCollector,
): Promise<CollectedArtifact | undefined> {
  try {
    const [workspace] = roots as readonly [ArtifactRoot, ...ArtifactRoot[]]
    const path = resolve(workspace.called[0]!, one.path)
    const root = roots.find(({ called, tree }) =>
      called.some((place) => path === place || (tree && isPathInside(place, path))),
    )
    if (!root)
      throw new PathRefusedError('lies outside of the workspace, and of what the tool may write to')
    const place = root.called.find((name) => isPathInside(name, path))!
    const steps = splitPath(relative(place, path))
    const shown = root === workspace ? steps.join('/') || '.' : path
    // A grant of a single file is opened from its folder, so that no link is followed.
    const [folder, ...rest] = root.tree
      ? [root.real, ...steps]
      : [join(root.real, '..'), root.real.split(sep).at(-1)!]
    const copy = join(into, ...(root === workspace ? steps : ['outside', ...splitPath(path)]))
    const found = await collectEntry(folder, rest, shown, copy, collector)
    if (one.sha256 !== undefined && one.sha256.toLowerCase() !== found.sha256)
      collector.refuse(one.path, `has another hash than the tool said: ${found.sha256}`)
    return { path: shown, ...compact({ name: one.name }), ...found }
  } catch (error) {
    collector.refuse(one.path, describeReadError(error))
    return undefined
  }
}

type HashedEntry = { readonly sha256: string; readonly bytes: number; readonly files?: number }

async function collectEntry(
  root: string,
  steps: readonly string[],
  shown: string,
  copy: string,
  collector: ArtifactCollector,
  inFolder = false,
): Promise<HashedEntry> {
  const handle = await openBeneath(root, steps)
  try {
    const stats = await handle.stat()
    if (stats.isDirectory() && !inFolder)
      return await collectFolder(root, steps, shown, copy, collector)
    if (!stats.isFile()) throw new PathRefusedError('is neither a file nor a folder')
    collector.files += 1
    if (collector.files > MAX_ARTIFACT_FILES)
      throw new PathRefusedError(
        `is one too many: a run has ${MAX_ARTIFACT_FILES} files as artifacts at most`,
      )
    const { sha256, bytes, notKept } = await hashAndCopyFile(
      handle,
      copy,
      collector.budget,
      collector.createHash('sha256'),
      collector.signal,
    )
    if (notKept !== undefined) collector.refuse(shown, `was hashed and not copied: ${notKept}`)
    return { sha256, bytes }
  } finally {
    await handle.close()
  }
}

async function collectFolder(
  root: string,
  steps: readonly string[],
  shown: string,
  copy: string,
  collector: ArtifactCollector,
): Promise<HashedEntry> {
  const list: string[] = []
  let bytes = 0
  const visit = async (inner: readonly string[]): Promise<void> => {
    for (const entry of (
      await readdir(join(root, ...steps, ...inner), { withFileTypes: true })
    ).sort((left, right) => (left.name < right.name ? -1 : 1))) {
      const path = [...inner, entry.name]
      try {
        if (path.length > MAX_FOLDER_DEPTH)
          throw new PathRefusedError(`nests more than ${MAX_FOLDER_DEPTH} folders`)
        if (entry.isDirectory()) {
          await visit(path)
          continue
        }
        const found = await collectEntry(
          root,
          [...steps, ...path],
          `${shown}/${path.join('/')}`,
          join(copy, ...path),
          collector,
          true,
        )
        list.push(`${found.sha256}  ${path.join('/')}\n`)
        bytes += found.bytes
      } catch (error) {
        collector.refuse(`${shown}/${path.join('/')}`, describeReadError(error))
      }
    }
  }
  await visit([])
  return {
    sha256: collector.createHash('sha256').update(list.sort().join('')).digest('hex'),
    bytes,
    files: list.length,
  }
}

function splitPath(path: string): readonly string[] {
  return path.split(sep).filter((step) => step !== '')
}

function describeReadError(error: unknown): string {
  return error instanceof PathRefusedError
    ? error.message
    : `cannot be read (${getErrorName(error)})`
}

function getErrorName(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}

const COPY_CHUNK_BYTES = 256 * KIBIBYTE

/** Bytes that may still be read in a run, and in copies be written. */
type ArtifactBudget = { read: number; copied: number }

/** A file that was read to its end. */
type HashedFile = {
  readonly sha256: string
  readonly bytes: number
  /** Why there is no copy. */ readonly notKept?: string
}

/**
 * Hashes an open file, and copies what was hashed, in one pass and in little memory. Throws a
 * Refusal for what is no ordinary file of its own, and when the signal comes.
 */
async function hashAndCopyFile(
  file: FileHandle,
  copy: string,
  budget: ArtifactBudget,
  hash: Hash,
  signal?: AbortSignal,
): Promise<HashedFile> {
  const { nlink, size } = await file.stat()
  if (nlink > 1) throw new PathRefusedError('has other names (hard links), which may lie outside')
  if (size > budget.read) throw new PathRefusedError(`has ${size} bytes, too many to be hashed`)
  let target: FileHandle | undefined
  let notKept = size > budget.copied ? 'it is too large for a copy' : undefined
  let bytes = 0
  const giveUpCopy = async (error: unknown): Promise<void> => {
    notKept = getErrorName(error)
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
        // It was announced by itself and with its folder, and is copied already.
        if (!hasErrorCode(error, 'EEXIST')) notKept = getErrorName(error)
      }
    }
    const buffer = Buffer.allocUnsafe(COPY_CHUNK_BYTES)
    for (;;) {
      // A file can be larger than any patience, and take no place on the disk.
      if (signal?.aborted) throw new PathRefusedError('was not hashed before the run was cancelled')
      const { bytesRead } = await file.read(buffer, 0, COPY_CHUNK_BYTES, bytes)
      if (bytesRead === 0) break
      bytes += bytesRead
      if (bytes > budget.read) throw new PathRefusedError('grows while it is read')
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      await target?.writeFile(chunk).catch(giveUpCopy)
    }
    budget.read -= bytes
    if (target) budget.copied -= bytes
    return compact({ sha256: hash.digest('hex'), bytes, notKept })
  } catch (error) {
    if (target) await rm(copy, { force: true }).catch(() => undefined)
    throw error
  } finally {
    await target?.close().catch(() => undefined)
  }
}

/** A file or folder that was refused, and why. */
export class PathRefusedError extends Error {}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * Opens a file or folder below a folder, part by part, and follows no link on the way, whoever
 * exchanges what meanwhile. `steps` is its path from there; none is the folder itself. Throws a
 * Refusal.
 */
export async function openBeneath(root: string, steps: readonly string[]): Promise<FileHandle> {
  let at = await open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(throwPathRefused)
  let path = root
  try {
    for (const [index, step] of steps.entries()) {
      path = join(path, step)
      // Not blocking, because opening a pipe would wait for a writer.
      const next = await open(
        isLinux ? `/proc/self/fd/${at.fd}/${step}` : path,
        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (index < steps.length - 1 ? O_DIRECTORY : 0),
      ).catch(throwPathRefused)
      await at.close()
      at = next
    }
    return at
  } catch (error) {
    await at.close().catch(() => undefined)
    throw error
  }
}

function throwPathRefused(error: NodeJS.ErrnoException): never {
  const why: { readonly [code: string]: string } = {
    ENOENT: 'does not exist',
    ELOOP: 'is a link, or lies behind one',
    ENOTDIR: 'is a link, or lies behind something that is no folder',
    EACCES: 'cannot be read',
    ENXIO: 'is neither a file nor a folder',
    EMLINK: 'is a link',
  }
  throw new PathRefusedError(why[error.code ?? ''] ?? `cannot be opened (${getErrorName(error)})`)
}

/** A path that a tool calls an artifact, and what it says about it. */
type AnnouncedArtifact = { readonly path: string; readonly name?: string; readonly sha256?: string }

const MAX_ANNOUNCED_ARTIFACTS = 1000
const MAX_PATH_LENGTH = 4096

/**
 * What a tool announced, as it says it in a result: paths, or objects with `path` or `uri`. What
 * cannot be one is refused with a reason.
 */
function parseAnnouncedArtifacts(
  announced: unknown,
  refuse: (path: string, why: string) => void,
): readonly (AnnouncedArtifact | RemoteArtifact)[] {
  if (announced === undefined || announced === null) return []
  if (!Array.isArray(announced)) {
    refuse('list', 'is not a list')
    return []
  }
  if (announced.length > MAX_ANNOUNCED_ARTIFACTS)
    refuse(
      `${MAX_ANNOUNCED_ARTIFACTS + 1}`,
      `is one too many: the tool announced ${announced.length}`,
    )
  return announced
    .slice(0, MAX_ANNOUNCED_ARTIFACTS)
    .flatMap((one: unknown, index): readonly (AnnouncedArtifact | RemoteArtifact)[] => {
      const { path, uri, name, sha256 }: JsonObject = isObject(one) ? one : { path: one }
      const address = typeof path === 'string' ? path : uri
      const facts = compact({ name: asString(name), sha256: asString(sha256) })
      if (typeof address !== 'string' || address === '') refuse(String(index + 1), 'has no path')
      else if (address.includes('\0') || address.length > MAX_PATH_LENGTH)
        refuse(JSON.stringify(address.slice(0, 100)), 'is not a path')
      else if (/^file:/i.test(address)) return fileUrlToArtifact(address, facts, refuse)
      else if (/^[a-z][a-z0-9+.-]+:\/\//i.test(address))
        return [compact({ uri: address, name: facts.name })]
      else return [{ path: address, ...facts }]
      return []
    })
}

function fileUrlToArtifact(
  uri: string,
  facts: Omit<AnnouncedArtifact, 'path'>,
  refuse: (path: string, why: string) => void,
): readonly AnnouncedArtifact[] {
  try {
    return [{ path: fileURLToPath(uri), ...facts }]
  } catch {
    refuse(JSON.stringify(uri.slice(0, 100)), 'is not a path')
    return []
  }
}
