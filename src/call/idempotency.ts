import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../contract/json.ts'
import type { Outcome } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { createExclusively, readText, setAside, writeTemporary } from './exclusive-file.ts'
import type { Finished } from './finished.ts'
import { host } from './host.ts'
import { toJsonValue } from './json-value.ts'
import { stateFolder } from './state-folder.ts'

const KEPT_MS = 24 * 3_600_000

type Call = {
  readonly key: string
  readonly tool: string
  /** Checked, and as it was given. */ readonly input: unknown
  readonly given: unknown
  readonly env: { readonly [name: string]: string | undefined }
}
type Entry = {
  readonly tool: string
  readonly input: string
  readonly at: number
  readonly pid: number
  readonly started?: string | undefined
  readonly outcome?: Outcome
}

/** Runs a call once per key: a repeat with the same input gets the remembered answer, another input is a CONFLICT. Failures are not remembered. */
export async function once(call: Call, run: () => Promise<Finished>): Promise<Finished> {
  if (call.key.trim() === '' || call.key.length > 500)
    throw new ToolError('INVALID_INPUT', 'an idempotency key has 1 to 500 characters', {
      field: 'idempotency-key',
    })
  const folder = join(stateFolder(call.env), 'idempotency')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${digest(`${call.tool}\0${call.key}`)}.json`)
  const mine: Entry = {
    tool: call.tool,
    input: digest(stable(toComparable(call))),
    at: Date.now(),
    pid: host.pid,
    started: host.startOf(host.pid),
  }

  const remembered = claim(file, mine, call.key)
  if (remembered)
    return {
      outcome: withWarning(
        remembered,
        'answered from an earlier call with the same idempotency key',
      ),
      value: remembered.ok ? remembered.result : undefined,
    }
  let finished: Finished | undefined
  try {
    finished = await run()
  } finally {
    if (!finished?.outcome.ok) forget(file)
  }
  return finished.outcome.ok
    ? remember(folder, file, { ...mine, outcome: finished.outcome }, finished)
    : finished
}

// The work is done: whatever goes wrong here is told, and does not make it a failure that somebody would repeat.
function remember(folder: string, file: string, entry: Entry, finished: Finished): Finished {
  try {
    renameSync(writeTemporary(file, JSON.stringify(entry)), file)
    sweep(folder)
    return finished
  } catch (error) {
    forget(file)
    return {
      ...finished,
      outcome: withWarning(
        finished.outcome,
        `the answer is not remembered for its idempotency key: ${(error as Error).message}`,
      ),
    }
  }
}

function forget(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    /* the entry dies with this process */
  }
}

// Gives the remembered outcome, or nothing when the key is now ours.
function claim(file: string, mine: Entry, key: string): Outcome | undefined {
  for (;;) {
    if (createExclusively(file, JSON.stringify(mine))) return undefined
    const text = readText(file)
    const entry = text === undefined ? undefined : parseEntry(text)
    const live =
      entry &&
      Date.now() - entry.at < KEPT_MS &&
      (entry.outcome !== undefined || host.isAlive(entry.pid, entry.started))
    if (!live) {
      setAside(file, text)
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

function parseEntry(text: string): Entry | undefined {
  try {
    const entry = JSON.parse(text) as unknown
    return isObject(entry) && typeof entry['at'] === 'number' && typeof entry['pid'] === 'number'
      ? (entry as Entry)
      : undefined
  } catch {
    return undefined
  }
}

function withWarning(outcome: Outcome, warning: string): Outcome {
  return {
    ...outcome,
    meta: { ...outcome.meta, warnings: [...(outcome.meta.warnings ?? []), warning] },
  }
}

const LOOK_AGAIN_MS = 60_000
const MOST_LOOKED_AT = 200
const swept = new Map<string, number>()

// Now and then, and some of them: where there are thousands, a look at all of them with each call would cost more than the calls.
function sweep(folder: string): void {
  const now = performance.now()
  if (now - (swept.get(folder) ?? -Infinity) < LOOK_AGAIN_MS) return
  swept.set(folder, now)
  const names = readdirSync(folder)
  const from = Math.floor(Math.random() * Math.max(1, names.length - MOST_LOOKED_AT + 1))
  for (const name of names.slice(from, from + MOST_LOOKED_AT)) {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs > KEPT_MS) rmSync(join(folder, name), { force: true })
  }
}

// A checked input may hold what only this process can tell apart; then what was given decides.
function toComparable({ input, given }: Call): unknown {
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

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function stable(value: unknown): string {
  return (
    JSON.stringify(value, (_key, field: unknown) =>
      isObject(field)
        ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
        : field,
    ) ?? 'null'
  )
}
