/**
 * Idempotency keys: a repeated call with the same key and input returns the first answer for 24
 * hours. Answers are kept as files in the state folder of the user.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { readTextFile } from '../util/files.ts'
import { createFileExclusively, removeStaleFile, writeTemporaryFile } from '../util/lock-file.ts'
import { isObject } from '../util/values.ts'
import type { CallResult } from './call.ts'
import { host } from './host.ts'
import { addOutcomeWarning, toJsonValue } from './result.ts'

const RETENTION_MS = 24 * 3_600_000

type IdempotentCall = {
  readonly key: string
  readonly tool: string
  /** Checked, and as it was given. */ readonly input: unknown
  readonly given: unknown
  readonly env: { readonly [name: string]: string | undefined }
}
type IdempotencyRecord = {
  readonly tool: string
  readonly input: string
  readonly at: number
  readonly pid: number
  readonly started?: string | undefined
  readonly outcome?: Outcome
}

/**
 * Runs a call once per key: a repeat with the same input gets the remembered answer, another input
 * is a CONFLICT. Failures are not remembered.
 */
export async function runIdempotent(
  call: IdempotentCall,
  run: () => Promise<CallResult>,
): Promise<CallResult> {
  if (call.key.trim() === '' || call.key.length > 500)
    throw new ToolError('INVALID_INPUT', 'an idempotency key has 1 to 500 characters', {
      field: 'idempotency-key',
    })
  const folder = join(getStateFolder(call.env), 'idempotency')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${hashSha256(`${call.tool}\0${call.key}`)}.json`)
  const mine: IdempotencyRecord = {
    tool: call.tool,
    input: hashSha256(stringifyStable(toComparable(call))),
    at: Date.now(),
    pid: host.pid,
    started: host.startOf(host.pid),
  }

  const remembered = claimKey(file, mine, call.key)
  if (remembered)
    return {
      outcome: addOutcomeWarning(
        remembered,
        'answered from an earlier call with the same idempotency key',
      ),
      value: remembered.ok ? remembered.result : undefined,
    }
  let finished: CallResult | undefined
  try {
    finished = await run()
  } finally {
    if (!finished?.outcome.ok) removeRecord(file)
  }
  return finished.outcome.ok
    ? storeRecord(folder, file, { ...mine, outcome: finished.outcome }, finished)
    : finished
}

// The work is done: whatever goes wrong here is told, and does not make it a failure that somebody
// would repeat.
function storeRecord(
  folder: string,
  file: string,
  entry: IdempotencyRecord,
  finished: CallResult,
): CallResult {
  try {
    renameSync(writeTemporaryFile(file, JSON.stringify(entry)), file)
    sweepExpired(folder)
    return finished
  } catch (error) {
    removeRecord(file)
    return {
      ...finished,
      outcome: addOutcomeWarning(
        finished.outcome,
        `the answer is not remembered for its idempotency key: ${(error as Error).message}`,
      ),
    }
  }
}

function removeRecord(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    /* the entry dies with this process */
  }
}

// Gives the remembered outcome, or nothing when the key is now ours.
function claimKey(file: string, mine: IdempotencyRecord, key: string): Outcome | undefined {
  for (;;) {
    if (createFileExclusively(file, JSON.stringify(mine))) return undefined
    const text = readTextFile(file)
    const entry = text === undefined ? undefined : parseRecord(text)
    const live =
      entry &&
      Date.now() - entry.at < RETENTION_MS &&
      (entry.outcome !== undefined || host.isAlive(entry.pid, entry.started))
    if (!live) {
      removeStaleFile(file, text)
      continue
    }
    if (entry.input !== mine.input)
      throw new ToolError('CONFLICT', `the idempotency key '${key}' was used with another input`, {
        field: 'idempotency-key',
        suggestion: 'Use a new key for a new request',
      })
    if (entry.outcome) return entry.outcome
    throw new ToolError('CONFLICT', `a call with the idempotency key '${key}' is still running`, {
      field: 'idempotency-key',
      retryable: true,
      suggestion: 'Wait for the first call to end',
    })
  }
}

function parseRecord(text: string): IdempotencyRecord | undefined {
  try {
    const entry = JSON.parse(text) as unknown
    return isObject(entry) && typeof entry['at'] === 'number' && typeof entry['pid'] === 'number'
      ? (entry as IdempotencyRecord)
      : undefined
  } catch {
    return undefined
  }
}

const SWEEP_INTERVAL_MS = 60_000
const MAX_SWEPT_FILES = 200
const lastSweeps = new Map<string, number>()

// Now and then, and some of them: where there are thousands, a look at all of them with each call
// would cost more than the calls.
function sweepExpired(folder: string): void {
  const now = performance.now()
  if (now - (lastSweeps.get(folder) ?? -Infinity) < SWEEP_INTERVAL_MS) return
  lastSweeps.set(folder, now)
  const names = readdirSync(folder)
  const from = Math.floor(Math.random() * Math.max(1, names.length - MAX_SWEPT_FILES + 1))
  for (const name of names.slice(from, from + MAX_SWEPT_FILES)) {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs > RETENTION_MS)
      rmSync(join(folder, name), { force: true })
  }
}

// A checked input may hold what only this process can tell apart; then what was given decides.
function toComparable({ input, given }: IdempotentCall): unknown {
  for (const candidate of [input, given]) {
    try {
      return toJsonValue(candidate).value
    } catch {
      /* the next one may do */
    }
  }
  throw new ToolError('INVALID_INPUT', 'an idempotency key needs an input that JSON can carry', {
    field: 'idempotency-key',
  })
}

function hashSha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function stringifyStable(value: unknown): string {
  return (
    JSON.stringify(value, (_key, field: unknown) =>
      isObject(field)
        ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
        : field,
    ) ?? 'null'
  )
}

type StateFolderEnv = { readonly [name: string]: string | undefined }

/** Where this platform keeps what programs remember between runs. */
function getStateFolder(env: StateFolderEnv, platform: string = host.platform): string {
  const home = env['HOME'] || env['USERPROFILE'] || homedir()
  if (env['XDG_STATE_HOME']) return join(env['XDG_STATE_HOME'], 'toolable')
  if (platform === 'win32')
    return join(env['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'toolable', 'state')
  if (platform === 'darwin')
    return join(home, 'Library', 'Application Support', 'toolable', 'state')
  return join(home, '.local', 'state', 'toolable')
}
