/**
 * Finds out what each candidate is: from the cache, from what is written about it, and only then by running it.
 */

import { dirname } from 'node:path'
import { quoteForShell } from '../../util/text.ts'
import { hashFile, isSameStamp, statFile, toStorableStamp } from '../cache.ts'
import type { CacheRecord } from '../cache.ts'
import type { LoadContext } from '../source.ts'
import { findManifestEntry, findPython, getRunner, isExecutableMode } from './candidates.ts'
import type { FolderCandidate } from './candidates.ts'
import type { Classification, classifyCandidate } from './classify.ts'
import { parseOutline } from './outline.ts'
import type { CandidateOutline, CandidateProblem } from './outline.ts'

type ClassifyFunction = typeof classifyCandidate

/** A manifest and the program that it means; none for a server, and for one that may not be run. */
type PlacedManifest = {
  readonly known: KnownCandidate
  readonly path?: string
  /** The file of a server. */ readonly server?: string
  readonly trouble?: CandidateProblem
}

/** Everything that is known of a folder now. */
export type FolderView = {
  readonly manifests: readonly PlacedManifest[]
  readonly programs: readonly KnownCandidate[]
  readonly records: ReadonlyMap<string, CacheRecord>
  readonly changed: boolean
}

/**
 * Finds out what each candidate is: from what was remembered, from what is written about it, and
 * only then from itself.
 */
export async function scanFolder(
  folder: string,
  candidates: readonly FolderCandidate[],
  before: ReadonlyMap<string, CacheRecord>,
  help: boolean,
  context: LoadContext,
): Promise<FolderView> {
  const now = Date.now()
  const records = new Map<string, CacheRecord>()
  let changed = false
  const note = (known: KnownCandidate): KnownCandidate => {
    // What is true for this moment only is not remembered.
    if (known.outline.until !== 0) records.set(known.candidate.key, known.record)
    if (known.record !== before.get(known.candidate.key)) changed = true
    return known
  }
  const through = createInterpreterKey(folder)
  // Nothing is awaited where the file system already says that all is as before.
  const remembered = (
    candidate: FolderCandidate,
    how: string,
  ): KnownCandidate | undefined | Promise<KnownCandidate | undefined> => {
    const found = recallRecord(candidate, how, before.get(candidate.key), now)
    return found && 'unsure' in found ? recheckTouched(found, now) : found
  }

  const written: KnownCandidate[] = []
  for (const candidate of candidates) {
    if (candidate.what === 'program') continue
    const found = remembered(candidate, '')
    written.push(
      note(
        (found instanceof Promise ? await found : found) ?? (await classifyWritten(candidate, now)),
      ),
    )
  }
  const manifests = placeManifests(folder, written, candidates)
  const spokenFor = new Set([
    ...manifests.flatMap(({ path, server }) => path ?? server ?? []),
    ...listCompanions(written, candidates),
  ])

  const programs: KnownCandidate[] = []
  const unknown: {
    readonly candidate: FolderCandidate
    readonly command: readonly [string, ...string[]]
  }[] = []
  for (const candidate of candidates) {
    if (candidate.what !== 'program' || spokenFor.has(candidate.path)) continue
    const found = remembered(candidate, through(candidate))
    const known = found instanceof Promise ? await found : found
    if (known) {
      programs.push(note(known))
      continue
    }
    const judged = await loadAndClassify(candidate, findPython(folder, candidate.toolFolder))
    if ('outline' in judged)
      programs.push(note(await createRecord(candidate, through(candidate), judged, now)))
    else unknown.push({ candidate, command: judged.command })
  }
  if (unknown.length > 0) {
    const { probePrograms } = await import('./probe-candidates.ts')
    const answers: Promise<KnownCandidate>[] = []
    await probePrograms(
      unknown,
      help,
      context,
      (candidate, judgement) =>
        void answers.push(createRecord(candidate, through(candidate), judgement, now)),
    )
    for (const known of await Promise.all(answers)) programs.push(note(known))
    programs.sort((left, right) => (left.candidate.key < right.candidate.key ? -1 : 1))
  }
  return { manifests, programs, records, changed: changed || records.size !== before.size }
}

async function classifyWritten(candidate: FolderCandidate, now: number): Promise<KnownCandidate> {
  const judged = await loadAndClassify(candidate, '')
  return createRecord(
    candidate,
    '',
    'outline' in judged ? judged : { outline: { is: 'nothing' }, body: '' },
    now,
  )
}

// A folder that has not changed needs no reader of manifests.
async function loadAndClassify(
  candidate: FolderCandidate,
  python: string,
): ReturnType<ClassifyFunction> {
  return (await import('./classify.ts')).classifyCandidate(candidate, python)
}

function placeManifests(
  folder: string,
  written: readonly KnownCandidate[],
  candidates: readonly FolderCandidate[],
): PlacedManifest[] {
  const entries = new Map(
    candidates.flatMap(({ what, toolFolder, path }) =>
      what === 'program' && toolFolder !== undefined ? [[toolFolder, path] as const] : [],
    ),
  )
  return written.map((known) => {
    const { outline, candidate } = known
    if (outline.is !== 'manifest' || (outline.server && outline.entry === undefined))
      return { known }
    const place = placeManifest(folder, candidate, outline, entries)
    if (outline.server)
      return 'reason' in place ? { known, trouble: place } : { known, server: place.path }
    return 'reason' in place ? { known, trouble: place } : { known, path: place.path }
  })
}

// A YAML file beside a script speaks for it, also when it is broken; one that is no manifest says
// nothing.
function listCompanions(
  written: readonly KnownCandidate[],
  candidates: readonly FolderCandidate[],
): readonly string[] {
  const names = new Set(
    written
      .filter(
        ({ outline, candidate }) =>
          (outline.is === 'manifest' || outline.is === 'problem') &&
          candidate.what !== 'error-codes',
      )
      .map(({ candidate }) => getCompanionKey(candidate)),
  )
  return names.size === 0
    ? []
    : candidates
        .filter(
          (candidate) => candidate.what === 'program' && names.has(getCompanionKey(candidate)),
        )
        .map(({ path }) => path)
}

function getCompanionKey({ name, toolFolder }: FolderCandidate): string {
  return toolFolder ?? `./${name}`
}

// Whether a file may be executed decides how it is started, and so what it answers.
function createInterpreterKey(folder: string): (candidate: FolderCandidate) => string {
  let shared: string | undefined
  return ({ path, toolFolder, seen }) => {
    const python =
      getRunner(path) !== 'python'
        ? ''
        : toolFolder === undefined
          ? (shared ??= findPython(folder, undefined))
          : findPython(folder, toolFolder)
    return isExecutableMode(seen.mode) ? `${python}+x` : python
  }
}

/** A candidate and what is known of it. */
export type KnownCandidate = {
  readonly candidate: FolderCandidate
  readonly outline: CandidateOutline
  readonly record: CacheRecord
}

/**
 * What is still true of a remembered record, as far as the file system tells it: all of it,
 * nothing, or only its hash can say.
 */
export function recallRecord(
  candidate: FolderCandidate,
  through: string,
  record: CacheRecord | undefined,
  now: number,
): KnownCandidate | TouchedCandidate | undefined {
  const outline = record && parseOutline(record.outline)
  if (
    !outline ||
    (outline.until !== undefined && outline.until < now) ||
    (outline.through ?? '') !== through
  )
    return undefined
  const known = { candidate, outline, record }
  if (isSameStamp(record.stamp, candidate.seen.stamp)) return known
  return record.stamp.size === candidate.seen.stamp.size && record.hash !== ''
    ? { unsure: known }
    : undefined
}

/** A file that was touched; it may be the same. */
type TouchedCandidate = { readonly unsure: KnownCandidate }

/** Reads a file that was touched: what was remembered, if it is the same. */
async function recheckTouched(
  { unsure: { candidate, outline, record } }: TouchedCandidate,
  now: number,
): Promise<KnownCandidate | undefined> {
  const hash = await hashFile(candidate.path, candidate.seen.stamp.size)
  return hash === record.hash
    ? { candidate, outline, record: { ...record, stamp: toStorableStamp(candidate.seen, now) } }
    : undefined
}

/** Makes a record of what was found out now. */
export async function createRecord(
  candidate: FolderCandidate,
  through: string,
  judgement: Classification,
  now: number,
): Promise<KnownCandidate> {
  const outline: CandidateOutline =
    through === '' ? judgement.outline : { ...judgement.outline, through }
  const hash = await hashFile(candidate.path, candidate.seen.stamp.size)
  // A file that changed while it was asked has the hash of what was not asked.
  const after = statFile(candidate.path)
  const isSame = after !== undefined && isSameStamp(after.stamp, candidate.seen.stamp)
  const stamp = toStorableStamp(candidate.seen, now)
  return {
    candidate,
    outline,
    record: {
      path: candidate.key,
      stamp: isSame ? stamp : { ...stamp, mtime: 0 },
      hash: isSame ? hash : '',
      outline,
      body: judgement.body,
    },
  }
}

type ManifestOutline = CandidateOutline & { readonly is: 'manifest' }

/**
 * Finds the program of a manifest, or says why there is none that may be run. `entries` are those
 * of the tool folders.
 */
function placeManifest(
  folder: string,
  candidate: FolderCandidate,
  { entry, runner }: ManifestOutline,
  entries: ReadonlyMap<string, string>,
): { readonly path: string } | CandidateProblem {
  const { key, path, toolFolder } = candidate
  if (entry === undefined) {
    const found = toolFolder === undefined ? undefined : entries.get(toolFolder)
    return found === undefined
      ? {
          reason: 'missing',
          message: `${key} describes a tool that is not there: no cli.*, main.* or tool.* in ${toolFolder ?? folder}`,
          fix: `Put the program there, or name it: entry: <file>`,
        }
      : { path: found }
  }
  const bases = [
    ...(toolFolder === undefined ? [] : [toolFolder]),
    dirname(path),
    folder,
    dirname(folder),
  ]
  const place = findManifestEntry(folder, bases, entry)
  if ('reason' in place)
    return {
      reason: place.reason,
      message: `${key} ${place.message}`,
      fix:
        place.reason === 'outside'
          ? `Put the program below ${folder}, without '..' and without links that leave it`
          : `Write the path from ${folder}`,
    }
  if (
    (runner ?? getRunner(place.path)) === 'exec' &&
    !isExecutableMode(statFile(place.path)?.mode ?? 0)
  )
    return {
      reason: 'not-executable',
      message: `${key} names a program that may not be executed: ${entry}`,
      fix: `chmod +x ${quoteForShell(place.path)}`,
    }
  return place
}
