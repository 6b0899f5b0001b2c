import type { createHash } from 'node:crypto'
import { readdir, realpath, rm } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { PlaceGrant } from '../../process/permissions/grants.ts'
import type { Budget } from './keep-file.ts'
import { keepFile } from './keep-file.ts'
import { openInside, Refusal } from './open-inside.ts'
import type { Announced } from './read-announced.ts'
import { readAnnounced } from './read-announced.ts'

export type ArtifactPlaces = {
  readonly workspace: string
  /** Where they may lie besides. */
  readonly allowed: readonly PlaceGrant[]
  /** A folder for copies, which is emptied first: what a later attempt changes in the workspace does not change them. */
  readonly into: string
  /** Aborted when nobody wants to wait any more: what is not hashed by then is refused. */
  readonly signal?: AbortSignal
}

/** A file that a tool made, or a folder: its hash is that of a list of its files, one line `<sha256>  <path>` each, in the order of their paths. */
export type CollectedArtifact = {
  readonly path: string
  readonly name?: string
  readonly sha256: string
  readonly bytes: number
  /** For a folder. */ readonly files?: number
}
/** Something that a tool names elsewhere; nobody looked at it. */
export type RemoteArtifact = { readonly uri: string; readonly name?: string }
export type ArtifactProblem = { readonly path: string; readonly message: string }

const MOST_READ = 64 * 1024 ** 3
const MOST_COPIED = 1024 ** 3
const MOST_FILES = 10_000
const DEEPEST = 64

type Collector = {
  readonly budget: Budget
  files: number
  readonly createHash: typeof createHash
  readonly signal: AbortSignal | undefined
  refuse(path: string, why: string): void
}

/** Hashes and copies what a tool announced, when its tree is dead. What is no ordinary file or folder in its workspace or in a place that it may write to is refused with a problem, and nothing else is touched. Never throws. */
export async function collectArtifacts(
  { workspace, allowed, into, signal }: ArtifactPlaces,
  announced: unknown,
): Promise<{
  readonly artifacts: readonly (CollectedArtifact | RemoteArtifact)[]
  readonly problems: readonly ArtifactProblem[]
}> {
  const problems: ArtifactProblem[] = []
  const artifacts: (CollectedArtifact | RemoteArtifact)[] = []
  const { createHash } = await import('node:crypto')
  const refuse = (path: string, why: string): void =>
    void (
      problems.length < MOST_FILES &&
      problems.push({ path, message: `the artifact ${path} ${why}` })
    )
  const collector: Collector = {
    budget: { read: MOST_READ, copied: MOST_COPIED },
    files: 0,
    createHash,
    signal,
    refuse,
  }
  await rm(into, { recursive: true, force: true }).catch(() => undefined)
  const roots = await findRoots(workspace, allowed)
  const seen = new Set<string>()
  for (const one of readAnnounced(announced, refuse)) {
    if ('uri' in one) artifacts.push(one)
    else if (!seen.has(resolve(workspace, one.path))) {
      const collected = await collectOne(one, roots, into, collector)
      if (!collected) continue
      seen.add(resolve(workspace, one.path))
      artifacts.push(collected)
    }
  }
  return { artifacts, problems }
}

/** A place that artifacts may lie in: as it is called, as it really is, and whether what is in it counts too. */
type Root = { readonly called: readonly string[]; readonly real: string; readonly tree: boolean }

async function findRoots(
  workspace: string,
  allowed: readonly PlaceGrant[],
): Promise<readonly Root[]> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path)
  const own = await real(workspace)
  const granted = await Promise.all(
    allowed.map(async ({ path, tree }) => ({ called: [path], real: await real(path), tree })),
  )
  // A grant had no links in it when it was given; the tool may have put one there, where it was granted the folder around.
  return [
    { called: [...new Set([resolve(workspace), own])], real: own, tree: true },
    ...granted.filter((root) => root.real === root.called[0]),
  ]
}

async function collectOne(
  one: Announced,
  roots: readonly Root[],
  into: string,
  collector: Collector,
): Promise<CollectedArtifact | undefined> {
  try {
    const [workspace] = roots as readonly [Root, ...Root[]]
    const path = resolve(workspace.called[0]!, one.path)
    const root = roots.find(({ called, tree }) =>
      called.some((place) => path === place || (tree && isInside(place, path))),
    )
    if (!root) throw new Refusal('lies outside of the workspace, and of what the tool may write to')
    const place = root.called.find((name) => path === name || isInside(name, path))!
    const steps = relative(place, path)
      .split(sep)
      .filter((step) => step !== '')
    const shown = root === workspace ? steps.join('/') || '.' : path
    // A grant of a single file is opened from its folder, so that no link is followed.
    const [folder, ...rest] = root.tree
      ? [root.real, ...steps]
      : [join(root.real, '..'), root.real.split(sep).at(-1)!]
    const copy = join(
      into,
      ...(root === workspace
        ? steps
        : ['outside', ...path.split(sep).filter((step) => step !== '')]),
    )
    const found = await collectAt(folder, rest, shown, copy, collector)
    if (one.sha256 !== undefined && one.sha256.toLowerCase() !== found.sha256)
      collector.refuse(one.path, `has another hash than the tool said: ${found.sha256}`)
    return { path: shown, ...(one.name !== undefined && { name: one.name }), ...found }
  } catch (error) {
    collector.refuse(one.path, explain(error))
    return undefined
  }
}

type Found = { readonly sha256: string; readonly bytes: number; readonly files?: number }

async function collectAt(
  root: string,
  steps: readonly string[],
  shown: string,
  copy: string,
  collector: Collector,
  inFolder = false,
): Promise<Found> {
  const handle = await openInside(root, steps)
  try {
    const stats = await handle.stat()
    if (stats.isDirectory() && !inFolder)
      return await collectFolder(root, steps, shown, copy, collector)
    if (!stats.isFile()) throw new Refusal('is neither a file nor a folder')
    collector.files += 1
    if (collector.files > MOST_FILES)
      throw new Refusal(`is one too many: a run has ${MOST_FILES} files as artifacts at most`)
    const { sha256, bytes, notKept } = await keepFile(
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
  collector: Collector,
): Promise<Found> {
  const list: string[] = []
  let bytes = 0
  const visit = async (inner: readonly string[]): Promise<void> => {
    for (const entry of (
      await readdir(join(root, ...steps, ...inner), { withFileTypes: true })
    ).sort((left, right) => (left.name < right.name ? -1 : 1))) {
      const path = [...inner, entry.name]
      try {
        if (path.length > DEEPEST) throw new Refusal(`nests more than ${DEEPEST} folders`)
        if (entry.isDirectory()) {
          await visit(path)
          continue
        }
        const found = await collectAt(
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
        collector.refuse(`${shown}/${path.join('/')}`, explain(error))
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

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function explain(error: unknown): string {
  return error instanceof Refusal
    ? error.message
    : `cannot be read (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`
}
