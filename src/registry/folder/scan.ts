/**
 * Finds out what each candidate is: from the cache, from its manifest, and only then by running it.
 */

import { dirname } from 'node:path'
import { quoteForShell } from '../../util/text.ts'
import { once } from '../../util/values.ts'
import type { CacheRecord } from '../cache.ts'
import { hashFile, isSameStamp, statFile, toStorableStamp } from '../cache.ts'
import type { LoadContext } from '../source.ts'
import type { FolderCandidate } from './candidates.ts'
import {
  findManifestEntry,
  findPython,
  getRunner,
  isExecutable,
  isExecutableMode,
} from './candidates.ts'
import type { Classification, UnknownProgram } from './classify.ts'
import type { CandidateOutline, CandidateProblem } from './outline.ts'
import { parseOutline } from './outline.ts'

/** A candidate and what is known of it. */
export type KnownCandidate = {
  readonly candidate: FolderCandidate
  readonly outline: CandidateOutline
  readonly record: CacheRecord
}

/** Everything that is known of a folder now. */
export type FolderView = {
  readonly manifests: readonly PlacedManifest[]
  readonly programs: readonly KnownCandidate[]
  readonly records: ReadonlyMap<string, CacheRecord>
  readonly changed: boolean
}

/** A manifest and its program; none for a server, and for a program that may not be run. */
type PlacedManifest = {
  readonly known: KnownCandidate
  readonly path?: string
  /** The file of a server. */
  readonly server?: string
  readonly trouble?: CandidateProblem
}

/**
 * Finds out what each candidate is: from the cache, from its manifest, and only then by asking the
 * program itself.
 */
export async function scanFolder(
  folder: string,
  candidates: readonly FolderCandidate[],
  before: ReadonlyMap<string, CacheRecord>,
  help: boolean,
  context: LoadContext,
): Promise<FolderView> {
  const now = Date.now()
  const getInterpreterKey = createInterpreterKey(folder)
  const records = new Map<string, CacheRecord>()
  const unknown: UnknownProgram[] = []
  let changed = false

  const note = (known: KnownCandidate): KnownCandidate => {
    // A verdict about this moment only is not remembered.
    if (known.outline.until !== 0) records.set(known.candidate.key, known.record)
    if (known.record !== before.get(known.candidate.key)) changed = true
    return known
  }
  const identify = async (candidate: FolderCandidate): Promise<KnownCandidate | undefined> => {
    const through = getInterpreterKey(candidate)
    const recalled = await recallRecord(candidate, through, before.get(candidate.key), now)
    if (recalled) return note(recalled)
    // Loaded here, because a folder that has not changed needs no reader of manifests.
    const { classifyCandidate } = await import('./classify.ts')
    const found = await classifyCandidate(candidate, folder)
    if ('outline' in found) return note(await createRecord(candidate, through, found, now))
    unknown.push(found)
    return undefined
  }
  const identifyAll = async (wanted: readonly FolderCandidate[]): Promise<KnownCandidate[]> => {
    const identified: KnownCandidate[] = []
    for (const candidate of wanted) {
      const known = await identify(candidate)
      if (known) identified.push(known)
    }
    return identified
  }

  const written = await identifyAll(candidates.filter(({ what }) => what !== 'program'))
  const manifests = placeManifests(folder, written, candidates)
  const described = new Set([
    ...manifests.flatMap(({ path, server }) => path ?? server ?? []),
    ...listCompanions(written, candidates),
  ])
  const programs = await identifyAll(
    candidates.filter(({ what, path }) => what === 'program' && !described.has(path)),
  )
  if (unknown.length > 0) {
    const { probePrograms } = await import('./probe-candidates.ts')
    const answers: Promise<KnownCandidate>[] = []
    await probePrograms(unknown, help, context, (candidate, found) => {
      answers.push(createRecord(candidate, getInterpreterKey(candidate), found, now))
    })
    programs.push(...(await Promise.all(answers)).map(note))
    programs.sort((left, right) => (left.candidate.key < right.candidate.key ? -1 : 1))
  }
  return { manifests, programs, records, changed: changed || records.size !== before.size }
}

// Whether a file may be executed decides how it is started, and so what it answers.
function createInterpreterKey(folder: string): (candidate: FolderCandidate) => string {
  const findSharedPython = once(() => findPython(folder))
  return ({ what, path, toolFolder, seen }) => {
    if (what !== 'program') return ''
    let python = ''
    if (getRunner(path) === 'python')
      python = toolFolder === undefined ? findSharedPython() : findPython(folder, toolFolder)
    return isExecutableMode(seen.mode) ? `${python}+x` : python
  }
}

function placeManifests(
  folder: string,
  written: readonly KnownCandidate[],
  candidates: readonly FolderCandidate[],
): PlacedManifest[] {
  const entries = new Map<string, string>()
  for (const { what, toolFolder, path } of candidates)
    if (what === 'program' && toolFolder !== undefined) entries.set(toolFolder, path)
  return written.map((known) => {
    const { outline, candidate } = known
    if (outline.is !== 'manifest' || (outline.server && outline.entry === undefined))
      return { known }
    const place = placeManifest(folder, candidate, outline, entries)
    if ('reason' in place) return { known, trouble: place }
    return outline.server ? { known, server: place.path } : { known, path: place.path }
  })
}

/**
 * Finds the program of a manifest, or says why there is none that may be run. `entries` has the
 * programs of the tool folders.
 */
function placeManifest(
  folder: string,
  { key, path, toolFolder }: FolderCandidate,
  { entry, runner }: CandidateOutline & { readonly is: 'manifest' },
  entries: ReadonlyMap<string, string>,
): { readonly path: string } | CandidateProblem {
  if (entry === undefined) {
    const found = entries.get(toolFolder ?? '')
    if (found !== undefined) return { path: found }
    return {
      reason: 'missing',
      message: `${key} describes a tool that is not there: no cli.*, main.* or tool.* in ${toolFolder ?? folder}`,
      fix: `Put the program there, or name it: entry: <file>`,
    }
  }
  const bases = [dirname(path), folder, dirname(folder)]
  if (toolFolder !== undefined) bases.unshift(toolFolder)
  const place = findManifestEntry(folder, bases, entry)
  if ('reason' in place) {
    const { reason } = place
    const fix =
      reason === 'outside'
        ? `Put the program below ${folder}, without '..' and without links that leave it`
        : `Write the path from ${folder}`
    return { reason, message: `${key} ${place.message}`, fix }
  }
  if ((runner ?? getRunner(place.path)) === 'exec' && !isExecutable(place.path))
    return {
      reason: 'not-executable',
      message: `${key} names a program that may not be executed: ${entry}`,
      fix: `chmod +x ${quoteForShell(place.path)}`,
    }
  return place
}

// A YAML file beside a script describes it, also when it is broken. One that is no manifest does
// not.
function listCompanions(
  written: readonly KnownCandidate[],
  candidates: readonly FolderCandidate[],
): readonly string[] {
  const keys = new Set(
    written
      .filter(({ outline }) => outline.is === 'manifest' || outline.is === 'problem')
      .filter(({ candidate }) => candidate.what !== 'error-codes')
      .map(({ candidate }) => getCompanionKey(candidate)),
  )
  return candidates
    .filter((candidate) => candidate.what === 'program' && keys.has(getCompanionKey(candidate)))
    .map(({ path }) => path)
}

function getCompanionKey({ name, toolFolder }: FolderCandidate): string {
  return toolFolder ?? `./${name}`
}

/** What a cached record says, where it is still true. A touched file is compared by its hash. */
export async function recallRecord(
  candidate: FolderCandidate,
  through: string,
  record: CacheRecord | undefined,
  now: number,
): Promise<KnownCandidate | undefined> {
  const outline = record && parseOutline(record.outline)
  if (!outline || (outline.through ?? '') !== through) return undefined
  if (outline.until !== undefined && outline.until < now) return undefined
  const { path, seen } = candidate
  if (isSameStamp(record.stamp, seen.stamp)) return { candidate, outline, record }
  const { size } = seen.stamp
  if (record.stamp.size !== size || record.hash === '') return undefined
  if ((await hashFile(path, size)) !== record.hash) return undefined
  return { candidate, outline, record: { ...record, stamp: toStorableStamp(seen, now) } }
}

/** Makes a record of a new classification. */
export async function createRecord(
  candidate: FolderCandidate,
  through: string,
  { outline: found, body }: Classification,
  now: number,
): Promise<KnownCandidate> {
  const { key, path, seen } = candidate
  const outline: CandidateOutline = through === '' ? found : { ...found, through }
  const hash = await hashFile(path, seen.stamp.size)
  // A file that changed while it was asked now has the hash of another file than the one asked.
  const after = statFile(path)
  const isSame = after !== undefined && isSameStamp(after.stamp, seen.stamp)
  const stamp = toStorableStamp(seen, now)
  const state = isSame ? { stamp, hash } : { stamp: { ...stamp, mtime: 0 }, hash: '' }
  return { candidate, outline, record: { path: key, ...state, outline, body } }
}
