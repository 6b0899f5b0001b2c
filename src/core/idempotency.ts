/**
 * Idempotency keys: a repeated call with the same key and input returns the first answer for 24
 * hours. Answers are kept as files in the state folder of the user.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { takeLockFile, writeFileAtomic } from '../util/lock-file.ts'
import { DAY_MS, MINUTE_MS } from '../util/units.ts'
import { parseJsonObject, toStableJson } from '../util/values.ts'
import { getUserFolder } from './cache.ts'
import type { CallResult } from './call.ts'
import { host } from './host.ts'
import { toJsonValue } from './json-value.ts'
import { addOutcomeWarning } from './result.ts'

const RETENTION_MS = DAY_MS

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
  const folder = join(await getUserFolder('state', call.env), 'idempotency')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${hashSha256(`${call.tool}\0${call.key}`)}.json`)
  const mine: IdempotencyRecord = {
    tool: call.tool,
    input: hashSha256(toStableJson(toComparable(call))),
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

// The work is done: a problem here is a warning, not a failure that a caller would retry.
function storeRecord(
  folder: string,
  file: string,
  entry: IdempotencyRecord,
  finished: CallResult,
): CallResult {
  try {
    writeFileAtomic(file, JSON.stringify(entry), { flush: true })
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
  const taken = takeLockFile(
    file,
    JSON.stringify(mine),
    (found) => (isLive(parseRecord(found)) ? 'held' : 'stale'),
    { flush: true },
  )
  if (!taken) return undefined
  const record = parseRecord(taken.found ?? '')
  if (record && record.input !== mine.input)
    throw new ToolError('CONFLICT', `the idempotency key '${key}' was used with another input`, {
      field: 'idempotency-key',
      suggestion: 'Use a new key for a new request',
    })
  if (record?.outcome) return record.outcome
  throw new ToolError('CONFLICT', `a call with the idempotency key '${key}' is still running`, {
    field: 'idempotency-key',
    retryable: true,
    suggestion: 'Wait for the first call to end',
  })
}

function parseRecord(text: string): IdempotencyRecord | undefined {
  const record = parseJsonObject(text)
  return typeof record?.['at'] === 'number' && typeof record['pid'] === 'number'
    ? (record as IdempotencyRecord)
    : undefined
}

function isLive(record: IdempotencyRecord | undefined): boolean {
  if (!record || Date.now() - record.at >= RETENTION_MS) return false
  return record.outcome !== undefined || host.isAlive(record.pid, record.started)
}

const SWEEP_INTERVAL_MS = MINUTE_MS
const MAX_SWEPT_FILES = 200
const lastSweeps = new Map<string, number>()

// Once in a while, and only some of them: with thousands of records, looking at all of them would
// cost more than the calls.
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

// A checked input may hold values that JSON cannot carry; then the input as given decides.
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
