/**
 * Finds runs: by id, prefix or `latest`, and lists them, newest first.
 */

import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { ToolError } from '../protocol/tool-error.ts'
import { hasErrorCode, listNames } from '../util/files.ts'
import { MEBIBYTE } from '../util/units.ts'
import { parseJsonObject } from '../util/values.ts'
import { toDiskError } from './files.ts'
import type { RunRequest } from './request.ts'
import type { RunPaths } from './run-paths.ts'
import { getRunPaths, isRunId, parseRunPrefix } from './run-paths.ts'

const MAX_NAMED_MATCHES = 5
const MAX_REQUEST_BYTES = 16 * MEBIBYTE

/**
 * The run that a word means: its id, the beginning of one that no other begins with, or `latest`,
 * which is never a step of another one. Throws INVALID_INPUT for what can be no id or means
 * several, NOT_FOUND where there is none, CONFIG for a `run.json` that cannot be read.
 */
export function openRun(
  root: string,
  word: string,
): { readonly paths: RunPaths; readonly request: RunRequest } {
  const paths = findRun(root, word)
  return { paths, request: readRunRequest(paths) }
}

/** The paths of the run that a word means; like openRun, but `run.json` is not looked at. */
export function findRun(root: string, word: string): RunPaths {
  const id =
    word === 'latest' ? findLatestRunId(root) : resolveRunPrefix(root, parseRunPrefix(word))
  if (id === undefined)
    throw new ToolError(
      'NOT_FOUND',
      word === 'latest' ? `there are no runs in ${root}` : `there is no run '${word}' in ${root}`,
      { field: 'run', suggestion: 'toolable runs list' },
    )
  return getRunPaths(root, id)
}

/** What a run is asked to do. Throws CONFIG. */
export function readRunRequest(paths: RunPaths): RunRequest {
  const value = parseJsonObject(readRequestText(paths))
  if (
    value?.['v'] === 1 &&
    value['run_id'] === paths.id &&
    typeof value['tool'] === 'string' &&
    typeof value['created'] === 'string' &&
    Array.isArray(value['args'])
  )
    return value as unknown as RunRequest
  throw new ToolError('CONFIG', `${paths.request} is not what a runner wrote`, {
    suggestion: `toolable runs logs ${paths.id}`,
  })
}

// A step of a workflow is newer than its workflow, and nobody who says latest means it.
function findLatestRunId(root: string): string | undefined {
  const all = listRuns(root)
  return (all.find(({ paths }) => !isChildRun(paths)) ?? all[0])?.id
}

function isChildRun(paths: RunPaths): boolean {
  try {
    return readRunRequest(paths).parent !== undefined
  } catch {
    return false
  }
}

function readRequestText({ request }: RunPaths): string {
  try {
    const stats = lstatSync(request)
    return !stats.isFile() || stats.size > MAX_REQUEST_BYTES ? '' : readFileSync(request, 'utf8')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return ''
    throw toDiskError(error, `cannot read ${request}`)
  }
}

function resolveRunPrefix(root: string, beginning: string): string | undefined {
  const found = isRunId(beginning)
    ? [beginning]
    : listNames(root).filter((name) => name.startsWith(beginning))
  const there = found.filter((name) => isRunId(name) && isFolder(getRunPaths(root, name).folder))
  if (there.length <= 1) return there[0]
  throw new ToolError(
    'INVALID_INPUT',
    `'${beginning}' is the beginning of ${there.length} runs: ${there.slice(0, MAX_NAMED_MATCHES).join(', ')}${there.length > MAX_NAMED_MATCHES ? ', …' : ''}`,
    { field: 'run', suggestion: 'Give more of the id' },
  )
}

// A link could lead anywhere.
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** A run as its folder shows it. */
export type ListedRun = {
  readonly id: string
  readonly paths: RunPaths
  /** Milliseconds. */ readonly created: number
}

/**
 * The runs of a folder, newest first; none where there is no folder. Folders that were never
 * finished are left out.
 */
export function listRuns(root: string): ListedRun[] {
  return listRunIds(root)
    .flatMap((id) => {
      const paths = getRunPaths(root, id)
      // Written when the run was created, and anew when it was resumed.
      const stats = statSync(paths.request, { throwIfNoEntry: false })
      return stats ? [{ id, paths, created: stats.mtimeMs }] : []
    })
    .sort((left, right) => right.created - left.created || (left.id < right.id ? -1 : 1))
}

/** The ids of everything in a folder that has the form of a run, in no order. */
export function listRunIds(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isRunId(entry.name))
      .map(({ name }) => name)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw toDiskError(error, `cannot read ${root}`)
  }
}

const READ_CONCURRENCY = 32

/**
 * Reads runs from the first on, several at the same time, until so many were of use; of the others
 * nothing is read.
 */
export async function readNewestRuns<Read>(
  runs: readonly ListedRun[],
  read: (run: ListedRun) => Promise<Read | undefined>,
  most: number,
): Promise<Read[]> {
  const found: Read[] = []
  for (let at = 0; at < runs.length && found.length < most; at += READ_CONCURRENCY) {
    const some = await Promise.all(runs.slice(at, at + READ_CONCURRENCY).map(read))
    for (const one of some) if (one !== undefined) found.push(one)
  }
  return found
}

/** For sorting: what was created last comes first. */
export function compareNewestFirst(
  left: { readonly created: string },
  right: { readonly created: string },
): number {
  return Number(left.created < right.created) - Number(left.created > right.created)
}
