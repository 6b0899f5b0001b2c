import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { createRun } from '../../runner/folder/create-run.ts'
import { isLive } from '../../runner/folder/lock.ts'
import { readRequest } from '../../runner/folder/open-run.ts'
import { runPaths } from '../../runner/folder/run-paths.ts'
import type { RunPaths } from '../../runner/folder/run-paths.ts'
import type { RunRequest } from '../../runner/run-request.ts'
import { readSummary } from '../../runner/summary/read-summary.ts'

/** The run that a request is: a new one, claimed by this process; one that was asked for before under the same key and goes on, or is done; or a workflow of that key that was left on its way. */
export type KeyedRun = {
  readonly is: 'new' | 'earlier' | 'left'
  readonly paths: RunPaths
  readonly request: RunRequest
}

const LONGEST_KEY = 500
// Between the folder of a run and what makes it one there is a moment.
const LOOK_AGAIN_MS = 20
const MOST_LOOKS = 250

/** Puts a run on record. With an idempotency key it is the only one of its tool for that key, as long as that one is on record: its id follows from both. A run that failed for good is not counted, as calls that fail are not. Throws CONFLICT where the key was used for another request. */
export async function createOnce(
  root: string,
  request: RunRequest,
  key: string | undefined,
): Promise<KeyedRun> {
  if (key === undefined) return { is: 'new', paths: createRun(root, request), request }
  if (key.trim() === '' || key.length > LONGEST_KEY)
    throw new ToolError('INVALID_INPUT', `an idempotency key has 1 to ${LONGEST_KEY} characters`, {
      field: 'idempotency-key',
    })
  for (let before = 0; ; before += 1) {
    const mine: RunRequest = {
      ...request,
      run_id: idOf(request.tool, key, before),
      idempotency_key: key,
    }
    const paths = runPaths(root, mine.run_id)
    if (!existsSync(paths.folder)) {
      const made = tryToCreate(root, mine)
      if (made) return { is: 'new', paths: made, request: mine }
    }
    const found = await lookAt(paths, mine)
    if (found) return found
  }
}

function idOf(tool: string, key: string, before: number): string {
  return `r-${createHash('sha256')
    .update(JSON.stringify([tool, key, before]))
    .digest('hex')
    .slice(0, 10)}`
}

// Somebody else may have been quicker.
function tryToCreate(root: string, request: RunRequest): RunPaths | undefined {
  try {
    return createRun(root, request)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'CONFLICT') return undefined
    throw error
  }
}

async function lookAt(paths: RunPaths, mine: RunRequest): Promise<KeyedRun | undefined> {
  for (let looks = 0; !existsSync(paths.request); looks += 1) {
    if (looks > MOST_LOOKS)
      throw new ToolError('CONFLICT', `${paths.folder} is there, and holds no run`, {
        field: 'idempotency-key',
        suggestion: 'Remove it',
      })
    await sleep(LOOK_AGAIN_MS)
  }
  const request = readRequest(paths)
  if (request.tool !== mine.tool || request.idempotency_key !== mine.idempotency_key)
    return undefined
  const is = isLive(paths) ? 'earlier' : await standing(paths, request)
  if (is && wishOf(request) !== wishOf(mine))
    throw new ToolError(
      'CONFLICT',
      `the idempotency key '${mine.idempotency_key}' was used with another input, for ${paths.id}`,
      { field: 'idempotency-key', suggestion: 'Use a new key for a new request' },
    )
  return is && { is, paths, request }
}

async function standing(
  paths: RunPaths,
  request: RunRequest,
): Promise<'earlier' | 'left' | undefined> {
  const { state, error } = await readSummary(paths, request)
  if (state === 'completed') return 'earlier'
  return request.command === 'workflow' &&
    (await (await import('../../workflow/run/check-resumable.ts')).isResumable(paths, error?.code))
    ? 'left'
    : undefined
}

// What was asked for, whatever the order in which it was written.
function wishOf({ args, input }: RunRequest): string {
  return JSON.stringify([args, input ?? {}], (_key, value: unknown) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
      : value,
  )
}
