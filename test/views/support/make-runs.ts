import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

// Imports nothing of the project, so that benches can load it as it is.

/** An event before it has its place in a run. */
export type Said = { readonly type: string; readonly [field: string]: unknown }

export type MakeRunsOptions = {
  readonly count: number
  /** The newest run is a little older; default: now. */
  readonly now?: number
  /** How far the oldest lies back; default 30. */
  readonly days?: number
  /** Other numbers give other runs. */
  readonly seed?: number
}

const TOOLS = [
  'files.find',
  'files.copy',
  'data.import',
  'data.export',
  'web.fetch',
  'images.resize',
  'mail.send',
  'reports.build',
  'tests.run',
  'db.migrate',
] as const
const CALLERS = [
  'person',
  'dashboard',
  'mcp',
  'workflow',
  'claude-code',
  'codex',
  undefined,
] as const
const FAILURES = [
  ['E_TIMEOUT', 'it took longer than 60 seconds', 124],
  ['E_NETWORK', 'connect ECONNREFUSED 10.0.0.7:5432', 20],
  ['E_INVALID_INPUT', 'rows: must be a number', 2],
  ['E_DISK_FULL', 'no space left on device', 1],
  ['E_UNKNOWN', 'Traceback (most recent call last): KeyError: customer', 1],
] as const

/**
 * Fills a folder with runs as runners leave them: several tools, states, errors, artifacts and
 * callers, over a month. Gives their ids, newest first. The same options give the same runs.
 */
export function makeRuns(
  root: string,
  { count, now = Date.now(), days = 30, seed = 1 }: MakeRunsOptions,
): string[] {
  const chance = chanceOf(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(chance() * items.length)]!
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const step = (days * 86_400_000) / Math.max(1, count)
  return Array.from({ length: count }, (_, index) => {
    const created = Math.floor(now - 60_000 - index * step - chance() * step * 0.9)
    const tool = pick(TOOLS)
    const id = idOf(seed, index)
    const lasted = Math.round(500 + chance() * 60_000)
    const kind = chance()
    const said: Said[] = [
      {
        type: 'runner_start',
        tool,
        level: 'L3',
        timeout_s: 1800,
        args: ['--from', `in-${index}.csv`],
      },
      { type: 'start', step: 'load' },
    ]
    for (let at = 1, most = 2 + Math.floor(chance() * 6); at <= most; at += 1)
      said.push({
        type: 'progress',
        pct: Math.round((at / most) * 1000) / 10,
        step: pick(['load', 'check', 'write']),
        msg: `${at * 100} of ${most * 100} rows`,
      })
    if (chance() < 0.1)
      said.push(
        {
          type: 'action_required',
          action: 'choose',
          interaction: {
            id: 'q1',
            kind: 'decision',
            prompt: 'Which way?',
            action: 'choose',
            options: [{ value: 'left' }, { value: 'right' }],
          },
        },
        {
          type: 'runner_log',
          level: 'info',
          msg: 'answered by answer file',
          answer: { id: 'q1', by: 'answer file', value: 'left' },
        },
      )
    const files: { readonly [path: string]: string } =
      kind < 0.25 ? { 'out/report.csv': `row,value\n${index},1\n` } : {}
    said.push(...endOf(kind, files, pick, lasted))
    writeRun(root, {
      id,
      tool,
      created,
      lasted,
      said,
      files,
      caller: pick(CALLERS),
      args: ['--from', `in-${index}.csv`],
    })
    return id
  })
}

function endOf(
  kind: number,
  files: { readonly [path: string]: string },
  pick: <Item>(items: readonly Item[]) => Item,
  lasted: number,
): readonly Said[] {
  if (kind < 0.8) {
    const artifacts = Object.entries(files).map(([path, text]) => ({
      path,
      sha256: createHash('sha256').update(text).digest('hex'),
      bytes: text.length,
    }))
    return [
      {
        type: 'result',
        status: 'ok',
        result: { rows: 100, took: lasted },
        ...(artifacts.length > 0 && { artifacts }),
      },
      { type: 'runner_end', state: 'completed', rc: 0, duration_s: lasted / 1000 },
    ]
  }
  if (kind < 0.85)
    return [
      { type: 'cancelled', reason: 'cancel-file' },
      { type: 'runner_end', state: 'cancelled', rc: 130, duration_s: lasted / 1000 },
    ]
  const [code, msg, rc] = pick(FAILURES)
  return [
    { type: 'error', code, msg, hint: 'See the log' },
    { type: 'runner_end', state: 'failed', rc, code, duration_s: lasted / 1000 },
  ]
}

/** One run on record. */
export type WrittenRun = {
  readonly id: string
  readonly tool: string
  /** Milliseconds. */
  readonly created: number
  readonly lasted?: number
  readonly said: readonly Said[]
  /** What it has left: path and text. */
  readonly files?: { readonly [path: string]: string }
  readonly caller?: string | undefined
  readonly args?: readonly string[]
  readonly stderr?: string
  /** More of its request. */
  readonly more?: { readonly [field: string]: unknown }
}

/** Writes the folder of a run, in a folder of runs that is there or not. */
export function writeRun(
  root: string,
  {
    id,
    tool,
    created,
    lasted = 1000,
    said,
    files = {},
    caller,
    args = [],
    stderr,
    more = {},
  }: WrittenRun,
): string {
  const folder = join(root, id)
  mkdirSync(root, { recursive: true, mode: 0o700 })
  mkdirSync(folder, { mode: 0o700 })
  const request = {
    v: 1,
    run_id: id,
    tool,
    version: '1.0.0',
    created: new Date(created).toISOString(),
    call: { form: 'protocol', command: ['/usr/bin/python3', `tools/${tool}.py`] },
    args,
    cwd: '/tmp',
    timeout_s: 1800,
    heartbeat_grace_s: 90,
    retries: 3,
    trace_id: 't-1',
    idempotency_key: id,
    ...(caller !== undefined && { caller }),
    ...more,
  }
  writeFileSync(join(folder, 'run.json'), `${JSON.stringify(request, undefined, 2)}\n`)
  const lines = said.map((one, index) =>
    lineOf(
      id,
      one,
      index + 1,
      created + Math.round((lasted * index) / Math.max(1, said.length - 1)),
    ),
  )
  writeFileSync(join(folder, 'events.jsonl'), lines.join(''))
  if (stderr !== undefined) {
    mkdirSync(join(folder, 'logs'))
    writeFileSync(join(folder, 'logs', 'stderr.log'), stderr)
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, 'artifacts', path, '..'), { recursive: true })
    writeFileSync(join(folder, 'artifacts', path), text)
  }
  utimesSync(join(folder, 'run.json'), created / 1000, created / 1000)
  return id
}

/**
 * Writes a run with so many events, of which some are warnings and errors, and all kinds occur. It
 * is not over where it is left open.
 */
export function makeLongRun(
  root: string,
  {
    id = 'r-ffffffffff',
    events = 100_000,
    created = Date.now() - 600_000,
    open = false,
  }: {
    readonly id?: string
    readonly events?: number
    readonly created?: number
    readonly open?: boolean
  } = {},
): string {
  writeRun(root, { id, tool: 'data.import', created, said: [] })
  const file = openSync(join(root, id, 'events.jsonl'), 'w')
  try {
    let text = ''
    for (let seq = 1; seq <= events; seq += 1) {
      text += lineOf(id, saidAt(seq, events, open), seq, created + Math.round(seq * 5))
      if (text.length > 1_000_000 || seq === events) {
        writeSync(file, text)
        text = ''
      }
    }
  } finally {
    closeSync(file)
  }
  return id
}

function saidAt(seq: number, events: number, open: boolean): Said {
  if (seq === 1) return { type: 'runner_start', tool: 'data.import', level: 'L3', timeout_s: 1800 }
  if (!open && seq === events)
    return { type: 'runner_end', state: 'completed', rc: 0, duration_s: events * 0.005 }
  if (!open && seq === events - 1) return { type: 'result', status: 'ok', result: { rows: events } }
  if (seq % 1000 === 0)
    return { type: 'log', level: 'warn', step: 'check', msg: `row ${seq} looks odd` }
  if (seq % 100 === 0)
    return {
      type: 'progress',
      pct: Math.round((seq / events) * 1000) / 10,
      step: 'write',
      msg: `${seq} rows`,
    }
  if (seq % 50 === 0) return { type: 'heartbeat' }
  return {
    type: 'log',
    level: 'info',
    step: 'write',
    msg: `row ${seq} is written to the table of customers`,
  }
}

function lineOf(run_id: string, said: Said, seq: number, at: number): string {
  return `${JSON.stringify({ v: 1, ts: new Date(at).toISOString(), run_id, trace_id: 't-1', ...said, seq, attempt: said['attempt'] ?? 1 })}\n`
}

/** The id of a run that `makeRuns` makes. */
export function idOf(seed: number, index: number): string {
  return `r-${createHash('sha256').update(`${seed}.${index}`).digest('hex').slice(0, 10)}`
}

// Small, and the same everywhere.
function chanceOf(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0
    return state / 4_294_967_296
  }
}
