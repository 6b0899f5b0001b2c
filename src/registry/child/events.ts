/**
 * What a child tells its caller besides the result: events, notifications on stderr, artifacts,
 * questions and options.
 */

import type { ReplyOptions } from '../../define/results.ts'
import { ok, partial, withForeignInfo } from '../../define/results.ts'
import type { Context, SampleOptions } from '../../protocol/context.ts'
import { readArtifacts } from '../../protocol/dialects/read-outcome.ts'
import type { Interaction, InteractionOption, LogLevel, ToolEvent } from '../../protocol/events.ts'
import type { Artifact, Outcome } from '../../protocol/outcome.ts'
import { readEventPlan } from '../../protocol/plan.ts'
import { reviveToolError } from '../../protocol/tool-error.ts'
import { shorten } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'

const LOG_LEVELS: ReadonlyMap<unknown, LogLevel> = new Map<string, LogLevel>([
  ['debug', 'debug'],
  ['info', 'info'],
  ['warn', 'warn'],
  ['error', 'error'],
  ['warning', 'warn'],
  ['critical', 'error'],
  ['fatal', 'error'],
  ['trace', 'debug'],
])

const EVENT_READERS: { readonly [type: string]: (line: JsonObject) => ToolEvent | undefined } = {
  progress: (line) => {
    const percent = line['percent'] ?? line['pct']
    return {
      type: 'progress',
      message: readEventText(line),
      ...compact({ percent: typeof percent === 'number' ? percent : undefined }),
      ...readEventPlan(line),
    }
  },
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
 * Reads the event in a line of a foreign stream or of the run protocol. Undefined for lines that
 * are no event for a caller, such as heartbeats.
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

/** Passes an event of a child on to the caller. */
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

function readLogLevel(level: unknown): LogLevel {
  return LOG_LEVELS.get(typeof level === 'string' ? level.toLowerCase() : level) ?? 'info'
}

const emittedArtifacts = new WeakMap<Context, Set<string>>()

// Once per artifact: tools report theirs while they work, and again in their answer.
function emitArtifact({ name, uri }: Artifact, ctx: Context): void {
  const known = emittedArtifacts.get(ctx) ?? new Set()
  emittedArtifacts.set(ctx, known)
  const key = JSON.stringify([name, uri])
  if (!known.has(key)) ctx.artifact(name, uri)
  known.add(key)
}

/**
 * Turns the outcome of a tool in another process into what a handler returns: a reply with
 * everything in the envelope. Throws the error of a failed outcome.
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
  const options: ReplyOptions = compact({ message, hidden, content })
  const info = compact({ warnings, truncated, next_cursor })
  if (outcome.status === 'success') return withForeignInfo(ok(result, options), info)
  const { errors, summary } = outcome
  return withForeignInfo(partial(result, errors, options), { ...info, summary })
}

// The child made the plan of a dry run; the pipeline reports it.
function emitPlan(result: unknown, ctx: Context): void {
  const plan = isObject(result) && Array.isArray(result['plan']) ? result['plan'] : []
  for (const step of plan.filter(isObject))
    ctx.plan(String(step['action']), String(step['target']), step['details'])
}

const MAX_STDERR_LINE = 4000
const MAX_STDERR_LINES = 10_000
const MAX_STDERR_KEPT = 16_000

/**
 * Reads the stderr of a child: notifications are emitted as events, everything else as debug
 * messages. It never decides how a call ends.
 */
export function createStderrReader(ctx: Context) {
  let kept: string[] = []
  let size = 0
  let count = 0
  return {
    readLine(line: string): void {
      count += 1
      const event = readNotification(line)
      if (event && count <= MAX_STDERR_LINES) return emitEvent(event, ctx)
      if (event || line.trim() === '') return
      const text = shorten(line, MAX_STDERR_LINE)
      kept.push(text)
      size += text.length + 1
      // Halved now and then, not line by line, so that a flood stays cheap.
      if (size > 2 * MAX_STDERR_KEPT) {
        kept = [kept.join('\n').slice(-MAX_STDERR_KEPT)]
        size = MAX_STDERR_KEPT
      }
      if (count < MAX_STDERR_LINES) ctx.log(text, 'debug')
      else if (count === MAX_STDERR_LINES)
        ctx.log('the tool says more on stderr than is shown', 'warn')
    },
    /** The last of it, notifications left out. */
    tail: (): string => kept.join('\n').slice(-MAX_STDERR_KEPT),
  }
}

/** The choices of a decision, as texts or objects; anything else is left out. */
export function readInteractionOptions(options: unknown): readonly InteractionOption[] {
  if (!Array.isArray(options)) return []
  return options.flatMap((option: unknown) => {
    if (typeof option === 'string') return [{ value: option }]
    if (!isObject(option) || typeof option['value'] !== 'string') return []
    const { value, label, description } = option
    return [compact({ value, label: toText(label), description: toText(description) })]
  })
}

/** A question of a program, read from its wire format. */
type ProgramQuestion = Omit<Interaction, 'id' | 'sampling'> & { readonly sampling?: unknown }

/** Asks the caller what a program asks, by `ctx.ask` or `ctx.sample`. */
export function askCaller(question: ProgramQuestion, ctx: Context): Promise<unknown> {
  const { kind, prompt, options = [], schema, default: preset, timeout, key, sampling } = question
  if (kind === 'sample')
    return ctx.sample(prompt, { ...readSampling(sampling), ...compact({ timeout, key }) })
  const common = compact({ prompt, timeout, key, default: preset as never })
  if (kind === 'confirm') return ctx.ask({ ...common, kind })
  if (kind === 'decision') return ctx.ask({ ...common, kind, options })
  return ctx.ask({ ...common, kind: 'input', ...compact({ schema }) })
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

/** The parameters of a completion, as programs write them; anything else is left out. */
export function readSampling(sampling: unknown): SampleOptions {
  if (!isObject(sampling)) return {}
  const { max_tokens: maxTokens, system, temperature, stop_sequences: stopSequences } = sampling
  return compact({
    maxTokens: typeof maxTokens === 'number' ? maxTokens : undefined,
    system: toText(system),
    temperature: typeof temperature === 'number' ? temperature : undefined,
    stopSequences: Array.isArray(stopSequences) ? stopSequences.map(String) : undefined,
  })
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
