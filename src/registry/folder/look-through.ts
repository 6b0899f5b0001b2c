import type { CacheRecord } from '../cache/line.ts'
import type { LoadContext } from '../source.ts'
import type { Candidate } from './candidate.ts'
import { placeManifest } from './place-manifest.ts'
import type { judge } from './judge.ts'
import type { Known } from './remember.ts'
import { recall, recognise, remember } from './remember.ts'
import { isExecutable, pythonOf, runnerOf } from './runner.ts'
import type { Trouble } from './outline.ts'

type Judge = typeof judge

/** A manifest and the program that it means; none for a server, and for one that may not be run. */
export type Placed = {
  readonly known: Known
  readonly path?: string
  /** The file of a server. */ readonly server?: string
  readonly trouble?: Trouble
}

/** Everything that is known of a folder now. */
export type View = {
  readonly manifests: readonly Placed[]
  readonly programs: readonly Known[]
  readonly records: ReadonlyMap<string, CacheRecord>
  readonly changed: boolean
}

/** Finds out what each candidate is: from what was remembered, from what is written about it, and only then from itself. */
export async function lookThrough(
  folder: string,
  candidates: readonly Candidate[],
  before: ReadonlyMap<string, CacheRecord>,
  help: boolean,
  context: LoadContext,
): Promise<View> {
  const now = Date.now()
  const records = new Map<string, CacheRecord>()
  let changed = false
  const note = (known: Known): Known => {
    // What is true for this moment only is not remembered.
    if (known.outline.until !== 0) records.set(known.candidate.key, known.record)
    if (known.record !== before.get(known.candidate.key)) changed = true
    return known
  }
  const through = throughOf(folder)
  // Nothing is awaited where the file system already says that all is as before.
  const remembered = (
    candidate: Candidate,
    how: string,
  ): Known | undefined | Promise<Known | undefined> => {
    const found = recall(candidate, how, before.get(candidate.key), now)
    return found && 'unsure' in found ? recognise(found, now) : found
  }

  const written: Known[] = []
  for (const candidate of candidates) {
    if (candidate.what === 'program') continue
    const found = remembered(candidate, '')
    written.push(
      note(
        (found instanceof Promise ? await found : found) ?? (await judgeWritten(candidate, now)),
      ),
    )
  }
  const manifests = placeAll(folder, written, candidates)
  const spokenFor = new Set([
    ...manifests.flatMap(({ path, server }) => path ?? server ?? []),
    ...companionsOf(written, candidates),
  ])

  const programs: Known[] = []
  const unknown: {
    readonly candidate: Candidate
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
    const judged = await judgeLate(candidate, pythonOf(folder, candidate.toolFolder))
    if ('outline' in judged)
      programs.push(note(await remember(candidate, through(candidate), judged, now)))
    else unknown.push({ candidate, command: judged.command })
  }
  if (unknown.length > 0) {
    const { askPrograms } = await import('./ask-programs.ts')
    const answers: Promise<Known>[] = []
    await askPrograms(
      unknown,
      help,
      context,
      (candidate, judgement) =>
        void answers.push(remember(candidate, through(candidate), judgement, now)),
    )
    for (const known of await Promise.all(answers)) programs.push(note(known))
    programs.sort((left, right) => (left.candidate.key < right.candidate.key ? -1 : 1))
  }
  return { manifests, programs, records, changed: changed || records.size !== before.size }
}

async function judgeWritten(candidate: Candidate, now: number): Promise<Known> {
  const judged = await judgeLate(candidate, '')
  return remember(
    candidate,
    '',
    'outline' in judged ? judged : { outline: { is: 'nothing' }, body: '' },
    now,
  )
}

// A folder that has not changed needs no reader of manifests.
async function judgeLate(candidate: Candidate, python: string): ReturnType<Judge> {
  return (await import('./judge.ts')).judge(candidate, python)
}

function placeAll(
  folder: string,
  written: readonly Known[],
  candidates: readonly Candidate[],
): Placed[] {
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

// A YAML file beside a script speaks for it, also when it is broken; one that is no manifest says nothing.
function companionsOf(
  written: readonly Known[],
  candidates: readonly Candidate[],
): readonly string[] {
  const names = new Set(
    written
      .filter(
        ({ outline, candidate }) =>
          (outline.is === 'manifest' || outline.is === 'problem') &&
          candidate.what !== 'error-codes',
      )
      .map(({ candidate }) => placeOf(candidate)),
  )
  return names.size === 0
    ? []
    : candidates
        .filter((candidate) => candidate.what === 'program' && names.has(placeOf(candidate)))
        .map(({ path }) => path)
}

function placeOf({ name, toolFolder }: Candidate): string {
  return toolFolder ?? `./${name}`
}

// Whether a file may be executed decides how it is started, and so what it answers.
function throughOf(folder: string): (candidate: Candidate) => string {
  let shared: string | undefined
  return ({ path, toolFolder, seen }) => {
    const python =
      runnerOf(path) !== 'python'
        ? ''
        : toolFolder === undefined
          ? (shared ??= pythonOf(folder, undefined))
          : pythonOf(folder, toolFolder)
    return isExecutable(seen.mode) ? `${python}+x` : python
  }
}
