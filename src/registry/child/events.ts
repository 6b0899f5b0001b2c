/**
 * What a child tells its caller besides the result: events, notifications on stderr, artifacts,
 * questions and options.
 */

import { ok, partial, withForeignInfo } from '../../define/results.ts'
import type { ReplyOptions } from '../../define/results.ts'
import type { Context, SampleOptions } from '../../protocol/context.ts'
import { readArtifacts } from '../../protocol/dialects/read-outcome.ts'
import type { InteractionOption, LogLevel, ToolEvent } from '../../protocol/events.ts'
import type { Artifact, Outcome } from '../../protocol/outcome.ts'
import { readEventPlan } from '../../protocol/plan.ts'
import { reviveToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'

const LOG_LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]
const LOG_LEVEL_ALIASES: ReadonlyMap<unknown, LogLevel> = new Map([
  ['warning', 'warn'],
  ['critical', 'error'],
  ['fatal', 'error'],
  ['trace', 'debug'],
])

type EventReader = (line: JsonObject) => ToolEvent | undefined

const EVENT_READERS: { readonly [type: string]: EventReader } = {
  progress: (line) => ({
    type: 'progress',
    message: readEventText(line),
    ...readPercent(line),
    ...readEventPlan(line),
  }),
  log: (line) => ({
    type: 'log',
    level: readLogLevel(line['level']),
    message: readEventText(line),
  }),
  artifact: (line) => {
    const [artifact] = readArtifacts([line])
    return artifact && { type: 'artifact', name: artifact.name, uri: artifact.uri }
  },
  item: (line) => ({ type: 'item', value: line['value'] ?? null }),
}

/**
 * The event that a line of a foreign stream or of the run protocol tells; undefined for lines that
 * tell a caller nothing, such as heartbeats.
 */
export function readEvent(line: JsonObject): ToolEvent | undefined {
  const { type } = line
  return typeof type === 'string' && Object.hasOwn(EVENT_READERS, type)
    ? EVENT_READERS[type]!(line)
    : undefined
}

/**
 * The event of a notification, as tools write it on stderr:
 * `{"type":"notification","kind":"progress",…}`.
 */
export function readNotification(line: string): ToolEvent | undefined {
  if (!line.startsWith('{')) return undefined
  const value = parseJsonObject(line)
  return value?.['type'] === 'notification' && value['kind'] !== 'item'
    ? readEvent({ ...value, type: value['kind'] })
    : undefined
}

/** Tells the caller an event of a child. */
export function emitEvent(event: ToolEvent, ctx: Context): void {
  if (event.type === 'progress')
    ctx.progress(event.message, event.percent, event.plan && { plan: event.plan })
  else if (event.type === 'log') ctx.log(event.message, event.level)
  else if (event.type === 'artifact') emitArtifact(event, ctx)
  else if (event.type === 'item') ctx.item(event.value)
}

function readEventText({ message, msg, step }: JsonObject): string {
  const text = message ?? msg ?? step ?? ''
  return typeof text === 'string' ? text : JSON.stringify(text)
}

function readPercent({ percent, pct }: JsonObject): { readonly percent?: number } {
  const value = percent ?? pct
  return typeof value === 'number' ? { percent: value } : {}
}

function readLogLevel(level: unknown): LogLevel {
  const word = typeof level === 'string' ? level.toLowerCase() : level
  return LOG_LEVELS.includes(word) ? (word as LogLevel) : (LOG_LEVEL_ALIASES.get(word) ?? 'info')
}

const emittedArtifacts = new WeakMap<Context, Set<string>>()

/**
 * Tells the caller of an artifact of a child, each only once: tools tell theirs while they work,
 * and again in their answer.
 */
function emitArtifact({ name, uri }: Artifact, ctx: Context): void {
  const known = emittedArtifacts.get(ctx) ?? new Set()
  emittedArtifacts.set(ctx, known)
  const key = JSON.stringify([name, uri])
  if (!known.has(key)) ctx.artifact(name, uri)
  known.add(key)
}

/**
 * Gives the outcome of a tool in another process to the pipeline: the reply, with all that the
 * envelope said, or the ToolError that it throws.
 */
export function toCallReply(outcome: Outcome, ctx: Context): unknown {
  const { artifacts = [], warnings, truncated, next_cursor } = outcome.meta
  for (const artifact of artifacts) emitArtifact(artifact, ctx)
  if (!outcome.ok) {
    for (const warning of warnings ?? []) ctx.log(warning, 'warn')
    throw reviveToolError(outcome.error)
  }
  if (ctx.dryRun) emitPlan(outcome.result, ctx)
  const { result, message, hidden, content } = outcome
  const said: ReplyOptions = compact({ message, hidden, content })
  const facts = compact({ warnings, truncated, next_cursor })
  if (outcome.status === 'success') return withForeignInfo(ok(result, said), facts)
  return withForeignInfo(partial(result, outcome.errors, said), {
    ...facts,
    summary: outcome.summary,
  })
}

// Of a dry run the pipeline tells the plan, which the child has made.
function emitPlan(result: unknown, ctx: Context): void {
  const plan = isObject(result) && Array.isArray(result['plan']) ? result['plan'] : []
  for (const step of plan.filter(isObject))
    ctx.plan(String(step['action']), String(step['target']), step['details'])
}

const MAX_STDERR_LINE = 4000
const MAX_STDERR_LINES = 10_000
const MAX_STDERR_KEPT = 16_000

/** What a child says beside its answer, on stderr. It never decides how a call ends. */
type StderrReader = {
  readLine(line: string): void
  /** The last of it, notifications left out. */
  tail(): string
}

/**
 * Tells the caller what a child says on stderr: notifications as what they are, everything else as
 * debug messages.
 */
export function createStderrReader(ctx: Context): StderrReader {
  let kept: string[] = []
  let size = 0
  let heard = 0
  return {
    readLine(line) {
      heard += 1
      const event = readNotification(line)
      if (event && heard <= MAX_STDERR_LINES) return emitEvent(event, ctx)
      if (event || line.trim() === '') return
      const text = shorten(line, MAX_STDERR_LINE)
      kept.push(text)
      size += text.length + 1
      // Halved now and then, not line by line: a flood costs nothing more.
      if (size > 2 * MAX_STDERR_KEPT) {
        kept = [kept.join('\n').slice(-MAX_STDERR_KEPT)]
        size = MAX_STDERR_KEPT
      }
      if (heard < MAX_STDERR_LINES) ctx.log(text, 'debug')
      else if (heard === MAX_STDERR_LINES)
        ctx.log('the tool says more on stderr than is shown', 'warn')
    },
    tail: () => kept.join('\n').slice(-MAX_STDERR_KEPT),
  }
}

/** The choices of a decision, as texts or objects; what is neither is left out. */
export function readInteractionOptions(options: unknown): readonly InteractionOption[] {
  if (!Array.isArray(options)) return []
  return options.flatMap((option: unknown) => {
    if (typeof option === 'string') return [{ value: option }]
    if (!isObject(option) || typeof option['value'] !== 'string') return []
    const { value, label, description } = option
    return [
      compact({
        value,
        label: typeof label === 'string' ? label : undefined,
        description: typeof description === 'string' ? description : undefined,
      }),
    ]
  })
}

/** The line that brings an answer to a tool. */
export function buildAnswerLine(
  { id, kind }: { readonly id?: unknown; readonly kind: string },
  answer: unknown,
): JsonObject {
  if (kind === 'sample') return { type: 'sample_response', id, content: answer }
  if (id !== undefined) return { id, value: answer }
  // The step of a session takes the object itself.
  return isObject(answer) ? answer : { value: answer }
}

/**
 * The parameters of a completion, as programs write them on the wire; what is no such parameter is
 * left out.
 */
export function readSampling(given: unknown): SampleOptions {
  if (!isObject(given)) return {}
  const { max_tokens: maxTokens, system, temperature, stop_sequences: stopSequences } = given
  return compact({
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
    system: typeof system === 'string' ? system : undefined,
    temperature: typeof temperature === 'number' ? temperature : undefined,
    stopSequences: Array.isArray(stopSequences) ? stopSequences.map(String) : undefined,
  })
}
