/**
 * Builds the row of a run from its request and events; of bounded size, so that ten thousand of
 * them fit into memory.
 */

import { statSync } from 'node:fs'
import type { RunEvent } from '../../protocol/run-state.ts'
import { isFinished } from '../../protocol/run-state.ts'
import { readRunRequest } from '../../runner/find-run.ts'
import { DEFAULT_QUESTION_TIMEOUT_SECONDS } from '../../runner/questions.ts'
import type { RunRequest } from '../../runner/request.ts'
import type { RunPaths } from '../../runner/run-paths.ts'
import { shorten } from '../../util/text.ts'
import { asNumber, asString, compact, isObject } from '../../util/values.ts'
import type { Decision, RunRow } from '../model/api.ts'
import { toLastText } from '../model/event-text.ts'
import type { OpenQuestion } from '../model/run-summary.ts'
import { createSummaryBuilder } from '../model/run-summary.ts'

/** A question, and what came of it. */
export type RecordedQuestion = Pick<
  Decision,
  'question' | 'asked' | 'deadline' | 'answered' | 'withdrawn'
>

/**
 * Where a run stands, as a list shows it, while its events come. It need not see all of them: those
 * that change something, and the last ones.
 */
export type RunRowBuilder = {
  add(event: RunEvent): void
  row(): RunRow
  /** Open questions of the current attempt. */
  open(): readonly RecordedQuestion[]
  /** Questions that are settled, since they were last taken away. */
  takeSettled(): readonly RecordedQuestion[]
  /** Questions that were open when the last attempt ended; a resumed workflow asks them again. */
  readonly left: readonly RecordedQuestion[]
  /** It has a plan. */
  readonly planned: boolean
  /** The number of the last event. */
  readonly seq: number
}

const MAX_TEXT_CHARS = 160
const MAX_SETTLED = 200
const PROTOCOL_TYPES: readonly string[] = ['start', 'progress', 'heartbeat', 'item', 'task_started']

/** Begins to follow a run from its first event. */
export function createRunRowBuilder(facts: RunMetadata): RunRowBuilder {
  const summary = createSummaryBuilder(facts)
  const open = new Map<string, RecordedQuestion>()
  let settled: RecordedQuestion[] = []
  let last: RunEvent | undefined
  let heard: string | undefined
  let seq = 0
  let began = NaN
  // While it waits for an answer its time stands still.
  let waited = 0
  let waitsSince: number | undefined
  let speaks = facts.sendsHeartbeats === true
  let left: readonly RecordedQuestion[] = []
  let made: RunRow | undefined
  let planned = false

  const settle = (asked: RecordedQuestion): void => {
    settled.push(asked)
    if (settled.length > 2 * MAX_SETTLED) settled = settled.slice(-MAX_SETTLED)
  }
  const giveUp = (): void => {
    left = [...open.values()]
    for (const asked of open.values()) settle({ ...asked, withdrawn: true })
    open.clear()
  }
  const ask = ({ ts, interaction, context }: RunEvent): void => {
    if (!isObject(interaction) || typeof interaction['id'] !== 'string') return
    const wait =
      toSeconds(interaction['timeout']) ??
      (isObject(context) ? toSeconds(context['timeout']) : undefined) ??
      facts.questionTimeoutS
    const until = wait === undefined ? NaN : Date.parse(ts) + wait * 1000
    open.set(
      interaction['id'],
      compact({
        question: limitQuestion(interaction as OpenQuestion),
        asked: ts,
        deadline: toIsoTime(until),
      }),
    )
    waitsSince ??= Date.parse(ts)
  }
  const answer = ({ ts, answer: given }: RunEvent): void => {
    const asked = isObject(given) ? open.get(String(given['id'])) : undefined
    if (!isObject(given) || !asked) return
    open.delete(asked.question.id)
    if (given['withdrawn'] === true) settle({ ...asked, withdrawn: true })
    else
      settle({
        ...asked,
        answered: compact({
          at: ts,
          by: internOptional(asString(given['by']), 100),
          value: limitValue(given['value']),
          note: internOptional(asString(given['note']), 1000),
        }),
      })
    if (open.size > 0 || waitsSince === undefined) return
    waited += Date.parse(ts) - waitsSince
    waitsSince = undefined
  }

  const makeRow = (): RunRow => {
    const { state, attempt, started, ended, duration_s, error, progress, questions, artifacts } =
      summary.current()
    const over = isFinished(state)
    const { run_id, tool, workflow, created, caller, parent, timeout, grace } = facts
    const text = last && last.type !== 'runner_start' ? toLastText(last) || last.type : undefined
    const until =
      state === 'running' && timeout !== undefined ? began + waited + timeout * 1000 : NaN
    const live = over ? {} : { progress, heard, grace: speaks ? grace : undefined }
    return compact({
      run_id,
      tool,
      state,
      attempt,
      created,
      workflow,
      started,
      ended,
      duration_s,
      caller,
      code: error && internText(error.code, 60),
      message: internOptional(error?.message, MAX_TEXT_CHARS),
      last: internOptional(text, MAX_TEXT_CHARS),
      percent: live.progress?.percent,
      step: internOptional(live.progress?.step, 80),
      heard: live.heard,
      grace_s: live.grace,
      deadline: toIsoTime(until),
      questions: questions.length,
      artifacts: artifacts?.length ?? 0,
      parent,
    })
  }

  return {
    add(event) {
      const { type, ts } = event
      seq = event.seq
      heard = ts
      made = undefined
      planned ||= type === 'progress' && event['plan'] !== undefined
      summary.add(event)
      if (type === 'runner_start') {
        giveUp()
        left = []
        began = Date.parse(ts)
        waited = 0
        waitsSince = undefined
      } else if (type === 'action_required') ask(event)
      else if (type === 'runner_log') answer(event)
      else if (type === 'runner_end') giveUp()
      if (!speaks && PROTOCOL_TYPES.includes(type)) speaks = true
      if (type !== 'heartbeat' && type !== 'runner_end' && (type !== 'runner_start' || !last))
        last = event
    },
    row: () => (made ??= makeRow()),
    open: () => [...open.values()],
    takeSettled() {
      const taken = settled
      settled = []
      return taken
    },
    get left() {
      return left
    },
    get planned() {
      return planned
    },
    get seq() {
      return seq
    },
  }
}

function toSeconds(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined
}

// A time that a tool names may lie beyond what a date can express.
function toIsoTime(milliseconds: number): string | undefined {
  return Math.abs(milliseconds) <= 8.64e15 ? new Date(milliseconds).toISOString() : undefined
}

/** What of a request a row repeats, and what its clock depends on. Of bounded size. */
export type RunMetadata = {
  readonly run_id: string
  readonly tool: string
  /** In the form of `toISOString`, so that texts sort like times. */
  readonly created: string
  readonly workflow?: string
  readonly caller?: string
  readonly parent?: { readonly run_id: string; readonly step: string }
  /** Seconds. */
  readonly timeout?: number
  /** Seconds of silence that it may keep, and whether they count before it speaks the protocol. */
  readonly grace?: number
  readonly sendsHeartbeats?: true
  /** Seconds that a question without a timeout waits. */
  readonly questionTimeoutS?: number
}

/**
 * What the folder of a run says was asked for; undefined where it is not whole yet. A `run.json`
 * that nobody can read is a run all the same, of a tool that nobody knows.
 */
export function readRunMetadata(paths: RunPaths): RunMetadata | undefined {
  const stats = statSync(paths.request, { throwIfNoEntry: false })
  if (!stats) return undefined
  try {
    return toRunMetadata(readRunRequest(paths), stats.mtimeMs)
  } catch {
    return { run_id: paths.id, tool: '?', created: new Date(stats.mtimeMs).toISOString() }
  }
}

/**
 * What a row keeps of a request; `changed` is when it was written, for one that does not say when
 * it was made.
 */
function toRunMetadata(request: RunRequest, changed: number): RunMetadata {
  const { tool, created, workflow, parent, call } = request
  const at = Date.parse(created)
  const isWorkflow = request.command === 'workflow'
  return compact({
    run_id: request.run_id,
    tool: internText(tool, 200),
    created: new Date(Number.isNaN(at) ? changed : at).toISOString(),
    workflow: isWorkflow
      ? internText(String(workflow?.definition['name'] ?? tool), 200)
      : undefined,
    caller: internOptional(asString(request.caller) || undefined, 100),
    parent: parent && {
      run_id: internText(String(parent.run_id), 20),
      step: internText(String(parent.step), 200),
    },
    timeout: asNumber(request.timeout_s),
    // Only programs send heartbeats.
    grace: call && asNumber(request.heartbeat_grace_s),
    sendsHeartbeats: call?.form === 'protocol' || undefined,
    questionTimeoutS: isWorkflow ? undefined : DEFAULT_QUESTION_TIMEOUT_SECONDS,
  })
}

const MAX_PROMPT_CHARS = 4000
const MAX_PART_CHARS = 64 * 1024
const MAX_VALUE_CHARS = 8 * 1024

/**
 * A question of bounded size: parts that are too large for a form are left out, texts are
 * shortened.
 */
export function limitQuestion(question: OpenQuestion): OpenQuestion {
  const kept = Object.entries(question).flatMap(([name, value]): readonly [string, unknown][] => {
    if (typeof value === 'string') return [[name, internText(value, MAX_PROMPT_CHARS)]]
    return getJsonSize(value) <= MAX_PART_CHARS ? [[name, value]] : []
  })
  return Object.fromEntries(kept) as OpenQuestion
}

/** What was answered, of bounded size. */
function limitValue(value: unknown): unknown {
  return getJsonSize(value) <= MAX_VALUE_CHARS
    ? value
    : internText(JSON.stringify(value), MAX_VALUE_CHARS)
}

function getJsonSize(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 0
}

const internedTexts = new Map<string, string>()
const MAX_INTERNED = 2000
const MAX_INTERNED_CHARS = 64

/**
 * A text of bounded length that keeps nothing else in memory: a piece of a text holds on to the
 * whole of it. Short ones that come again and again are kept once.
 */
export function internText(text: string, longest: number): string {
  if (text.length > longest) return Buffer.from(shorten(text, longest)).toString()
  if (text.length > MAX_INTERNED_CHARS) return text
  const same = internedTexts.get(text)
  if (same !== undefined) return same
  if (internedTexts.size >= MAX_INTERNED) internedTexts.clear()
  internedTexts.set(text, text)
  return text
}

function internOptional(text: string | undefined, longest: number): string | undefined {
  return text === undefined ? undefined : internText(text, longest)
}
