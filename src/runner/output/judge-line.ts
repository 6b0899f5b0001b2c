import {
  PROTOCOL_EVENT_TYPES,
  RUNNER_EVENT_TYPES,
  TASK_EVENT_TYPES,
} from '../../contract/events.ts'
import { isObject } from '../../contract/json.ts'
import type { DiagnosticReason } from './diagnostics.ts'
import { isDeeperThan } from './event-fields.ts'

/** An event as a tool writes it. */
export type ToolLine = { readonly type: string; readonly [field: string]: unknown }

/** A line that is no event, and why. */
export type Refused = { readonly reason: DiagnosticReason; readonly message: string }

type Speaker = 'tool' | 'orchestrator' | 'runner'

const SPEAKERS: ReadonlyMap<unknown, Speaker> = new Map<unknown, Speaker>([
  ...PROTOCOL_EVENT_TYPES.map((type) => [type, 'tool'] as const),
  ...TASK_EVENT_TYPES.map((type) => [type, 'orchestrator'] as const),
  ...RUNNER_EVENT_TYPES.map((type) => [type, 'runner'] as const),
])

/** Levels of lists and objects in one event; what writes JSON again is not made for thousands. */
const DEEPEST = 100

const EMPTY: Refused = { reason: 'empty', message: 'The line is empty' }
const NOT_JSON: Refused = { reason: 'not_json', message: 'The line is not JSON' }
const NOT_AN_OBJECT: Refused = {
  reason: 'not_an_object',
  message: 'The line is JSON, but no object',
}
const NO_TYPE: Refused = { reason: 'no_type', message: 'The line has no type' }
const TOO_DEEP: Refused = {
  reason: 'too_deep',
  message: `The line nests more than ${DEEPEST} levels`,
}

/** The event that a line is, or why it is none, whatever came before it. */
export function judgeLine(
  line: string,
  { runId, mayOrchestrate }: { readonly runId: string; readonly mayOrchestrate: boolean },
): ToolLine | Refused {
  const event = parse(line)
  if (!isObject(event)) return event === undefined ? explainText(line) : NOT_AN_OBJECT
  const { type, v, run_id: ownRun } = event
  if (typeof type !== 'string') return NO_TYPE
  const speaker = SPEAKERS.get(type)
  if (speaker === 'runner') return { reason: 'forged', message: `Only the runner writes '${type}'` }
  if (speaker === undefined)
    return { reason: 'unknown_type', message: 'The type is not one of the protocol' }
  if (ownRun !== undefined && ownRun !== runId)
    return { reason: 'forged', message: 'The line names another run' }
  if (v !== undefined && v !== 1)
    return {
      reason: 'wrong_version',
      message: 'The line is of another version of the protocol than 1',
    }
  if (speaker === 'orchestrator' && !mayOrchestrate)
    return { reason: 'not_an_orchestrator', message: `Only an orchestrator writes '${type}'` }
  // Each level takes two characters.
  if (line.length > 2 * DEEPEST && isDeeperThan(event, DEEPEST)) return TOO_DEEP
  return event as ToolLine
}

/** Whether a judgement is a refusal; an event has its type, and no refusal has one. */
export function isRefused(judged: ToolLine | Refused): judged is Refused {
  return !('type' in judged)
}

// An error is expensive, and floods of text are common.
function parse(line: string): unknown {
  if (line.charCodeAt(0) !== 0x7b && !/^[\t\r ]*[[{"\-\dtfn]/.test(line)) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function explainText(line: string): Refused {
  return line.trim() === '' ? EMPTY : NOT_JSON
}
