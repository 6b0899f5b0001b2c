import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { parseObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { diskProblem } from '../log/disk-problem.ts'
import type { RunRequest } from '../run-request.ts'
import { listRuns } from './list-runs.ts'
import { isRunId, readRunWord } from './run-id.ts'
import { runPaths } from './run-paths.ts'
import type { RunPaths } from './run-paths.ts'

const MOST_NAMED = 5
const LARGEST_REQUEST = 16 * 1024 * 1024

/** The run that a word means: its id, the beginning of one that no other begins with, or `latest`, which is never a step of another one. Throws INVALID_INPUT for what can be no id or means several, NOT_FOUND where there is none, CONFIG for a `run.json` that cannot be read. */
export function openRun(
  root: string,
  word: string,
): { readonly paths: RunPaths; readonly request: RunRequest } {
  const paths = findRun(root, word)
  return { paths, request: readRequest(paths) }
}

/** The paths of the run that a word means; like openRun, but `run.json` is not looked at. */
export function findRun(root: string, word: string): RunPaths {
  const id = word === 'latest' ? findLatest(root) : pickOne(root, readRunWord(word))
  if (id === undefined)
    throw new ToolError(
      'NOT_FOUND',
      word === 'latest' ? `there are no runs in ${root}` : `there is no run '${word}' in ${root}`,
      { field: 'run', suggestion: 'toolable runs list' },
    )
  return runPaths(root, id)
}

/** What a run is asked to do. Throws CONFIG. */
export function readRequest(paths: RunPaths): RunRequest {
  const value = parseObject(readBounded(paths))
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
function findLatest(root: string): string | undefined {
  const all = listRuns(root)
  return (all.find(({ paths }) => !isChild(paths)) ?? all[0])?.id
}

function isChild(paths: RunPaths): boolean {
  try {
    return readRequest(paths).parent !== undefined
  } catch {
    return false
  }
}

function readBounded({ request }: RunPaths): string {
  try {
    const stats = lstatSync(request)
    return !stats.isFile() || stats.size > LARGEST_REQUEST ? '' : readFileSync(request, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw diskProblem(error, `cannot read ${request}`)
  }
}

function pickOne(root: string, beginning: string): string | undefined {
  const found = isRunId(beginning)
    ? [beginning]
    : listNames(root).filter((name) => name.startsWith(beginning))
  const there = found.filter((name) => isRunId(name) && isFolder(runPaths(root, name).folder))
  if (there.length <= 1) return there[0]
  throw new ToolError(
    'INVALID_INPUT',
    `'${beginning}' is the beginning of ${there.length} runs: ${there.slice(0, MOST_NAMED).join(', ')}${there.length > MOST_NAMED ? ', …' : ''}`,
    { field: 'run', suggestion: 'Give more of the id' },
  )
}

// A link could lead anywhere.
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function listNames(root: string): string[] {
  try {
    return readdirSync(root)
  } catch {
    return []
  }
}
