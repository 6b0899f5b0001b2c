/**
 * Events of a call: what `ctx.log` and generator tools emit, the `tool_invoked` record at the end,
 * and the same as a stream.
 *
 * Listeners belong to the host. One that throws fails the call, one that never settles is given up
 * after a minute.
 */

import { session, stream } from '../define/results.ts'
import type { ToolDefinition } from '../define/tool-types.ts'
import type {
  CallEvent,
  Invocation,
  LogLevel,
  ToolEvent,
  ToolInvokedEvent,
} from '../protocol/events.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { renderFullText } from '../protocol/output.ts'
import { readEventPlan } from '../protocol/plan.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import { runAsHost } from './call-scope.ts'
import type { CallOptions, CallResult } from './call.ts'
import { createLongId, trackBackground } from './call.ts'
import { toToolError } from './errors.ts'
import { toJsonValue } from './json-value.ts'
import type { RunningCall } from './lifecycle.ts'
import { onAbort } from './lifecycle.ts'

const MAX_RENDERED_LENGTH = 1000

type MutableInvokedEvent = { -readonly [Field in keyof ToolInvokedEvent]?: ToolInvokedEvent[Field] }

/**
 * Emits the record of a finished call, synchronously unless the listener returns a promise. Throws
 * what the listener throws, and TIMEOUT when it does not settle. `input` is absent when the input
 * was refused.
 */
export function reportInvocation(
  definition: ToolDefinition,
  given: unknown,
  input: { readonly value: unknown } | undefined,
  outcome: Outcome,
  options: CallOptions,
): void | Promise<void> {
  const { onEvent } = options
  if (!onEvent) return
  const event = describeInvocation(definition, given, input, outcome, options)
  return withObserverTimeout(runAsHost(() => onEvent(event)))
}

// Not by spreading, which would cost more than all the rest. The order of the keys is part of the
// wire form.
function describeInvocation(
  definition: ToolDefinition,
  given: unknown,
  input: { readonly value: unknown } | undefined,
  outcome: Outcome,
  { caller, state, invocation: about }: CallOptions,
): ToolInvokedEvent {
  const shown = redactOutcome(definition, outcome)
  const event: MutableInvokedEvent = {
    type: 'tool_invoked',
    event_id: createLongId(),
    tool: definition.name,
    input: redactInput(definition, input ? input.value : given),
    outcome: shown,
    rendered_output: renderFullText(shown).slice(0, MAX_RENDERED_LENGTH),
  }
  if (!input && given !== undefined) event.raw_arguments = redactInput(definition, given)
  if (caller !== undefined) event.caller = caller
  if (state) event.session_id = state.id
  if (about) addInvocationFields(event, about)
  event.ts = getTimestamp()
  return event as ToolInvokedEvent
}

function addInvocationFields(
  event: MutableInvokedEvent,
  { callId, promptName, adapter, usage, run }: Invocation,
): void {
  if (callId !== undefined) event.call_id = callId
  if (promptName !== undefined) event.prompt_name = promptName
  if (adapter !== undefined) event.adapter = adapter
  if (usage) event.usage = usage
  if (run) event.run_context = run
}

let lastTimestamp = { at: -1, text: '' }

// Many calls end in the same millisecond, and formatting it costs as much as checking an input.
function getTimestamp(): string {
  const at = Date.now()
  if (at !== lastTimestamp.at) lastTimestamp = { at, text: new Date(at).toISOString() }
  return lastTimestamp.text
}

/** Emits an event. A listener belongs to the host: when it fails, the call fails. */
export function emitEvent(
  event: ToolEvent,
  { onEvent }: CallOptions,
  call: RunningCall,
): void | Promise<void> {
  if (!onEvent || call.isOver) return
  const fail = (error: unknown): void => call.fail(toToolError(error))
  try {
    const told = runAsHost(() => onEvent(event))
    return told instanceof Promise ? told.catch(fail) : undefined
  } catch (error) {
    fail(error)
  }
}

/**
 * The events of one call as they happen, then its outcome as the `result` event. A slow reader
 * holds generator tools back; a reader that leaves cancels the call.
 */
export function streamCall(
  start: (options: CallOptions) => Promise<CallResult>,
  options: CallOptions = {},
): AsyncIterableIterator<CallEvent> {
  const controller = new AbortController()
  const events = streamEvents(start, options, controller)
  return {
    next: () => events.next(),
    return() {
      // A generator alone would wait for the next event before it leaves, and there may be none.
      controller.abort('the reader left')
      return events.return()
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

type QueuedEvent = { readonly event: CallEvent; readonly taken: () => void }

async function* streamEvents(
  start: (options: CallOptions) => Promise<CallResult>,
  options: CallOptions,
  controller: AbortController,
): AsyncGenerator<CallEvent, void, void> {
  const waiting: QueuedEvent[] = []
  let wake = (): void => undefined
  const cancel = (): void => controller.abort(options.signal?.reason)
  if (options.signal?.aborted) cancel()
  const stopListening = options.signal ? onAbort(options.signal, cancel) : undefined

  let finished: CallResult | undefined
  const running = start({
    ...options,
    signal: controller.signal,
    async onEvent(event) {
      const taken =
        event.type === 'tool_invoked'
          ? undefined
          : new Promise<void>((resolve) => {
              waiting.push({ event, taken: resolve })
              wake()
            })
      await options.onEvent?.(event)
      await taken
    },
  }).then((value) => {
    finished = value
    wake()
  })

  try {
    for (;;) {
      const next = waiting.shift()
      if (next) {
        yield next.event
        next.taken()
      } else if (finished) {
        yield { type: 'result', ...finished.outcome }
        return
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
  } finally {
    stopListening?.()
    for (const { taken } of waiting) taken()
    await running
  }
}

const MAX_STEPS_WITHOUT_PAUSE = 100

/** What a generator function returns. */
export type ToolGenerator =
  Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>

/** What a generator tool talks to while it runs. */
type GeneratorHost = {
  /** Hands out an event; a promise holds the generator back. */
  emit(event: ToolEvent): void | Promise<void>
  /** Waits for the next answer; undefined: the dialogue is over. Throws without an answerer. */
  answer(prompt: string): Promise<unknown>
  readonly signal: AbortSignal
}

/** True for what a generator function returns, and not for arrays, strings or other iterables. */
export function isGenerator(value: unknown): value is ToolGenerator {
  if (typeof value !== 'object' || value === null) return false
  const candidate = value as Partial<ToolGenerator> & {
    [Symbol.asyncIterator]?: unknown
    [Symbol.iterator]?: unknown
  }
  return (
    typeof candidate.next === 'function' &&
    typeof candidate.return === 'function' &&
    (typeof candidate[Symbol.asyncIterator] === 'function' ||
      typeof candidate[Symbol.iterator] === 'function')
  )
}

/**
 * Runs a streaming or session tool to its end; gives its return value, else what its `result` event
 * carried.
 */
export async function driveGenerator(
  generator: ToolGenerator,
  talk: GeneratorHost,
): Promise<unknown> {
  let result: unknown
  let closed = false
  let saidGoodbye = false
  let reply: unknown
  let steps = 0
  // Closed immediately, not when its reader or its partner has answered: they may never do.
  const stopListening = onAbort(talk.signal, () => closeGenerator(generator))
  try {
    while (!talk.signal.aborted) {
      // A generator that waits for nothing would keep timers, signals and other calls out.
      if (++steps % MAX_STEPS_WITHOUT_PAUSE === 0)
        await new Promise((resolve) => setImmediate(resolve))
      const step = await generator.next(reply)
      reply = undefined
      if (step.done) return step.value === undefined ? result : step.value
      if (talk.signal.aborted || saidGoodbye) break
      const event = parseYield(step.value)
      if (event.type === 'result') {
        result = event.result
        continue
      }
      await talk.emit(event)
      // What the tool returns right behind its last word is still its result.
      saidGoodbye = event.type === 'session_end'
      if (event.type !== 'session_start' && event.type !== 'awaiting_input') continue
      // The dialogue is over: the tool gets one `quit`, and is ended when it asks again.
      if (closed) break
      const answer = await talk.answer(event.prompt)
      closed = answer === undefined
      reply = closed ? { action: 'quit' } : answer
    }
    return result
  } finally {
    stopListening()
    closeGenerator(generator)
  }
}

// A generator that hangs or throws in its own clean-up must not hold the answer back; one that has
// ended is not disturbed.
function closeGenerator(generator: ToolGenerator): void {
  trackBackground((async () => generator.return(undefined))())
}

/** What a generator tool said: an event to hand out, or its result. */
type YieldedEvent = ToolEvent | { readonly type: 'result'; readonly result: unknown }

type YieldedFields = { readonly [field: string]: unknown }

const LOG_LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]

const YIELD_READERS: { readonly [type: string]: (fields: YieldedFields) => YieldedEvent } = {
  progress: (fields) =>
    stream.progress(
      toText(fields['message']),
      typeof fields['percent'] === 'number' ? clampPercent(fields['percent']) : undefined,
      readEventPlan(fields),
    ),
  log: ({ message, level }) =>
    stream.log(toText(message), LOG_LEVELS.includes(level) ? (level as LogLevel) : 'info'),
  artifact: ({ name, uri }) => stream.artifact(toText(name), toText(uri)),
  item: ({ value }) => stream.item(value),
  result: ({ result }) => stream.result(result),
  session_start: ({ message, prompt }) =>
    session.start(toText(message), prompt === undefined ? undefined : toText(prompt)),
  awaiting_input: ({ prompt }) => session.ask(prompt === undefined ? undefined : toText(prompt)),
  session_end: ({ status }) => session.end(status === undefined ? undefined : toText(status)),
}

/** Reads what a generator tool yielded; throws INTERNAL for what is no event. */
function parseYield(yielded: unknown): YieldedEvent {
  const type = isObject(yielded) ? yielded['type'] : undefined
  const read =
    typeof type === 'string' && Object.hasOwn(YIELD_READERS, type) ? YIELD_READERS[type] : undefined
  if (read) return read(yielded as YieldedFields)
  throw new ToolError(
    'INTERNAL',
    `a generator tool must yield events such as stream.progress('...') or session.ask(); it yielded ${previewValue(yielded)}`,
  )
}

/** A percentage that can be drawn. */
export function clampPercent(percent: number): number {
  return Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : 0
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : previewValue(value)
}

function previewValue(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 80)
  } catch {
    return typeof value
  }
}

/**
 * What of an input may be shown in events and logs, as JSON: what the tool's `redact` leaves of it.
 * Never throws.
 */
export function redactInput({ hooks }: Pick<ToolDefinition, 'hooks'>, input: unknown): unknown {
  try {
    return toJsonValue(hooks.redact ? hooks.redact(input as never) : input).value
  } catch {
    return '[cannot be shown]'
  }
}

/**
 * An outcome as events and logs may show it: a repaired input would repeat what `redact` takes out.
 */
export function redactOutcome({ hooks }: ToolDefinition, outcome: Outcome): Outcome {
  if (!hooks.redact || outcome.ok || !outcome.error.suggestion?.input) return outcome
  const { input: _input, ...suggestion } = outcome.error.suggestion
  return { ...outcome, error: { ...outcome.error, suggestion } }
}

// Longer than calls on the same state wait for their turn to commit: a listener that waits for one
// of them continues when that one gives up.
const OBSERVER_TIMEOUT_MS = 60_000

class ObserverTimeoutError extends ToolError {}

/** Waits for a listener. Throws TIMEOUT after a minute, and ignores it from then on. */
function withObserverTimeout(listening: unknown): void | Promise<void> {
  if (typeof (listening as PromiseLike<unknown> | null | undefined)?.then !== 'function') return
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(createObserverTimeoutError()), OBSERVER_TIMEOUT_MS)
    const heard = (): void => {
      clearTimeout(timer)
      resolve()
    }
    const failed = (error: unknown): void => {
      clearTimeout(timer)
      reject(error)
    }
    ;(listening as PromiseLike<unknown>).then(heard, failed)
  })
}

/** True when a call failed because its listener did not settle: it is not waited for again. */
export function isObserverTimeout(error: unknown): boolean {
  return error instanceof ObserverTimeoutError
}

function createObserverTimeoutError(): ToolError {
  return new ObserverTimeoutError(
    'TIMEOUT',
    `onEvent did not come to an end with the record of the call in ${OBSERVER_TIMEOUT_MS / 1000} seconds, so what the call did was taken back`,
    {
      suggestion: {
        action: 'abort',
        fix: 'The host should see that the promise of onEvent settles',
      },
    },
  )
}
