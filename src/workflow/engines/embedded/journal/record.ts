import { isObject } from '../../../../contract/json.ts'
import { ToolError } from '../../../../contract/tool-error.ts'
import type { Workflow } from '../../../definition/workflow-type.ts'
import type { Settled, StepError, WorkflowQuestion } from '../../engine-type.ts'

/** The version of the form that we write; whoever finds a newer one leaves it alone. */
export const JOURNAL_VERSION = 1

/** A definition, once for all the executions of a file that have it. */
export type DefineRecord = { readonly t: 'define'; readonly h: string; readonly d: Workflow }
/** An execution begins: `w` is its id, `h` and `n` the hash and the name of its definition, `i` its input. */
export type BeginRecord = {
  readonly t: 'begin'
  readonly w: string
  readonly h: string
  readonly n: string
  readonly at: string
  readonly i: unknown
}
/** What came of the operation with the key `k`: a value or an error, and the run that it was. */
export type DoneRecord = {
  readonly t: 'done'
  readonly w: string
  readonly k: string
  readonly v?: unknown
  readonly e?: StepError
  readonly r?: string
  readonly by?: string
  readonly ms?: number
}
export type AskRecord = {
  readonly t: 'ask'
  readonly w: string
  readonly k: string
  readonly q: WorkflowQuestion
}
/** A pause has begun, and this is when it is over, so that a restart does not begin it anew. */
export type SleepRecord = {
  readonly t: 'sleep'
  readonly w: string
  readonly k: string
  readonly until: string
}
export type CancelRecord = { readonly t: 'cancel'; readonly w: string; readonly reason: string }
export type EndState = 'completed' | 'failed' | 'cancelled'
export type EndRecord = {
  readonly t: 'end'
  readonly w: string
  readonly s: EndState
  readonly v?: unknown
  readonly e?: StepError
  readonly at: string
}
/** The execution goes on elsewhere, as a run of its own; nothing of it follows here. */
export type MovedRecord = { readonly t: 'moved'; readonly w: string; readonly at: string }

/** What happens to one execution after its begin. */
export type ExecutionRecord =
  DoneRecord | AskRecord | SleepRecord | CancelRecord | EndRecord | MovedRecord
export type JournalRecord = DefineRecord | BeginRecord | ExecutionRecord

/** No line is longer, so that nobody has to hold more than that to read one. */
export const LONGEST_RECORD = 16 * 1024 * 1024

const TYPES: ReadonlySet<unknown> = new Set<JournalRecord['t']>([
  'define',
  'begin',
  'done',
  'ask',
  'sleep',
  'cancel',
  'end',
  'moved',
])

/** Whether a parsed line is a record; what else is in it is not looked at. */
export function isRecord(value: unknown): value is JournalRecord {
  return (
    isObject(value) &&
    TYPES.has(value['t']) &&
    (value['t'] === 'define' ? typeof value['h'] === 'string' : typeof value['w'] === 'string')
  )
}

/** The line of a record. Throws OUTPUT_LIMIT for one that is too long, INTERNAL for one that is no JSON. */
export function writeRecord(record: JournalRecord): string {
  return endLine(stringify(record), record.t)
}

/** The line of a begin, whose input is written already. */
export function writeBegin({ w, h, n, at }: Omit<BeginRecord, 'i'>, input: string): string {
  return endLine(
    `{"t":"begin","w":"${w}","h":"${h}","n":${JSON.stringify(n)},"at":"${at}","i":${input}}`,
    'input',
  )
}

/** The line of what came of an operation, whose value is written already. */
export function writeDone(
  id: string,
  key: string,
  settled: Settled,
  value: string | undefined,
  by?: string,
): string {
  const head = `{"t":"done","w":"${id}","k":${JSON.stringify(key)}`
  if (!settled.ok) return endLine(`${head},"e":${stringify(settled.error)}}`, key)
  return endLine(
    `${head}${value === undefined ? '' : `,"v":${value}`}${settled.run_id === undefined ? '' : `,"r":${JSON.stringify(settled.run_id)}`}${by === undefined ? '' : `,"by":${JSON.stringify(by)}`}}`,
    key,
  )
}

/** What came of an operation, as a record tells it. */
export function readDone({ v, e, r }: DoneRecord): Settled {
  return e === undefined
    ? { ok: true, value: v, ...(r !== undefined && { run_id: r }) }
    : { ok: false, error: e }
}

/** A value as JSON; undefined for what JSON leaves out. Throws INTERNAL for what cannot be written. */
export function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    throw new ToolError(
      'INTERNAL',
      `this is no JSON, and cannot be kept: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

function endLine(text: string | undefined, what: string): string {
  // A character takes up to three bytes: most lines need not be measured.
  if (
    text !== undefined &&
    (text.length * 3 < LONGEST_RECORD || Buffer.byteLength(text) < LONGEST_RECORD)
  )
    return `${text}\n`
  throw new ToolError(
    'OUTPUT_LIMIT',
    `what '${what}' gives is longer than a journal keeps: ${LONGEST_RECORD / 1024 / 1024} MB`,
    { suggestion: 'Write it to a file, and give the path of it' },
  )
}
