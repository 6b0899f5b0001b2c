/**
 * One tool call over HTTP: its options from headers, its outcome or its events as the response.
 */

import { toEnvelope } from '../cli/formats/envelope.ts'
import { toJsonText } from '../cli/formats/json-text.ts'
import type { CallOptions, ServerCallOptions } from '../core/call.ts'
import { Cancellation } from '../core/call.ts'
import { toHttpStatus } from '../protocol/errors.ts'
import type { CallEvent } from '../protocol/events.ts'
import type { Duration } from '../protocol/limits.ts'
import { capTimeout } from '../protocol/limits.ts'
import type { FailureOutcome, Outcome, Suggestion } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import type { HttpRequest, HttpResponse } from './exchange.ts'
import { createJsonHeaders } from './exchange.ts'

/** What the server decides about every call. */
export type HttpCallDefaults = Pick<CallOptions, 'caller' | 'confirm' | 'cwd' | 'env'> & {
  /** Longest time a call may take; a request may ask for less. */
  readonly timeout?: Duration
}

const MAX_CALLER_CHARS = 100
const MAX_KEY_CHARS = 255

/**
 * The options of a call as the headers of its request give them; throws INVALID_INPUT naming the
 * header.
 */
export function parseCallOptions(request: HttpRequest, defaults: HttpCallDefaults): CallOptions {
  const { timeout: longest, confirm = false, ...rest } = defaults
  const asked = request.header('toolable-timeout')
  const timeout = asked === undefined ? longest : capTimeout(asked, longest, 'Toolable-Timeout')
  const key = readShortHeader(request, 'Idempotency-Key', MAX_KEY_CHARS)
  const caller = readShortHeader(request, 'Toolable-Caller', MAX_CALLER_CHARS)
  return {
    ...rest,
    confirm: isHeaderYes(request, 'Toolable-Confirm') || confirm,
    ...compact({
      dryRun: isHeaderYes(request, 'Toolable-Dry-Run') || undefined,
      timeout,
      idempotencyKey: key,
      caller,
    }),
  }
}

/** The same, ended when the client goes away or the server stops. */
export function withClientCancellation(
  request: HttpRequest,
  options: CallOptions,
): ServerCallOptions {
  const cancellation = new Cancellation()
  request.onDisconnect((why) => cancellation.cancel(why))
  return { ...options, cancellation }
}

/** True when a request asks for its events while they happen. */
export function wantsEvents(request: HttpRequest): boolean {
  const asked = request.search === '' ? null : new URLSearchParams(request.search).get('stream')
  if (asked !== null) return parseYesNo(asked, 'stream')
  const accept = request.header('accept') ?? ''
  return /\btext\/event-stream\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept)
}

function isHeaderYes(request: HttpRequest, name: string): boolean {
  return parseYesNo(request.header(name.toLowerCase()) ?? 'no', name)
}

function parseYesNo(value: string, name: string): boolean {
  const word = value.trim().toLowerCase()
  if (['yes', 'true', '1'].includes(word)) return true
  if (['no', 'false', '0'].includes(word)) return false
  throw new ToolError('INVALID_INPUT', `${name} is yes or no; got '${value.slice(0, 40)}'`, {
    field: name,
  })
}

function readShortHeader(request: HttpRequest, name: string, longest: number): string | undefined {
  const value = request.header(name.toLowerCase())?.trim()
  if (value === undefined || value === '') return undefined
  if (value.length <= longest) return value
  throw new ToolError('INVALID_INPUT', `${name} is longer than ${longest} characters`, {
    field: name,
  })
}

/** A bare JSON document. */
export function toDocumentResponse(document: unknown, type = 'application/json'): HttpResponse {
  return {
    status: 200,
    headers: { ...createJsonHeaders('no-cache'), 'content-type': type },
    body: toJsonText(document),
  }
}

/** An outcome as its envelope, under the status of its error code. */
export function toOutcomeResponse(outcome: Outcome): HttpResponse {
  return {
    status: outcome.ok ? 200 : toHttpStatus(outcome.error),
    headers: createJsonHeaders('no-store'),
    body: toJsonText(toHttpEnvelope(outcome)),
  }
}

/** The envelope as HTTP carries it: a repaired input is shown as the JSON to send. */
function toHttpEnvelope(outcome: Outcome): Record<string, unknown> {
  return toEnvelope(outcome, (input) => toJsonText(input))
}

/** Lets a failure that only a person can repair name the header or the command that goes on. */
export function addNextStep(outcome: Outcome, command: readonly string[], input: unknown): Outcome {
  if (outcome.ok || outcome.error.suggestion?.example !== undefined) return outcome
  if (outcome.error.code === 'CONFIRMATION_REQUIRED')
    return addExample(outcome, 'Send the header Toolable-Confirm: yes', 'Toolable-Confirm: yes')
  if (outcome.error.code !== 'ANSWER_REQUIRED') return outcome
  const flag = isSampleFailure(outcome) ? '--sample-via stdin' : '--session'
  return addExample(
    outcome,
    'Nobody can be asked over plain HTTP: call the tool on the command line, or over MCP',
    `${command.join(' ')} '${toJsonText(input).replaceAll("'", `'\\''`)}' ${flag}`,
  )
}

function addExample(outcome: FailureOutcome, fix: string, example: string): FailureOutcome {
  const { input: _unused, ...given }: Suggestion = outcome.error.suggestion ?? {
    action: 'retry_with_modified_input',
    fix,
    applicability: 'maybe_incorrect',
  }
  return { ...outcome, error: { ...outcome.error, suggestion: { ...given, example } } }
}

function isSampleFailure({ error: { details } }: FailureOutcome): boolean {
  const interaction = details?.['interaction'] as { readonly kind?: unknown } | undefined
  return interaction?.kind === 'sample'
}

const KEEP_ALIVE_INTERVAL_MS = 15_000
const SILENCE = Symbol('silent')

/**
 * The events of a call as server-sent events, the last one its outcome; comments keep the
 * connection alive while nothing happens.
 */
export function toEventStreamResponse(
  events: AsyncIterable<CallEvent>,
  complete: (outcome: Outcome) => Outcome,
  keepAlive = KEEP_ALIVE_INTERVAL_MS,
): HttpResponse {
  return {
    status: 200,
    // Some proxies collect an answer before they pass it on, unless they are told.
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
    body: streamEvents(events, complete, keepAlive),
  }
}

async function* streamEvents(
  events: AsyncIterable<CallEvent>,
  complete: (outcome: Outcome) => Outcome,
  keepAlive: number,
): AsyncGenerator<string, void, void> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    for (let next = iterator.next(); ; next = iterator.next()) {
      let step = await raceSilence(next, keepAlive)
      while (step === SILENCE) {
        yield ': still working\n\n'
        step = await raceSilence(next, keepAlive)
      }
      if (step.done) return
      yield formatEvent(step.value, complete)
    }
  } finally {
    void iterator.return?.()
  }
}

function formatEvent(event: CallEvent, complete: (outcome: Outcome) => Outcome): string {
  const shown =
    event.type === 'result' ? { type: 'result', ...toHttpEnvelope(complete(event)) } : event
  return `event: ${event.type}\ndata: ${toJsonText(shown)}\n\n`
}

function raceSilence<T>(work: Promise<T>, milliseconds: number): Promise<T | typeof SILENCE> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(SILENCE), milliseconds)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
