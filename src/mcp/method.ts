/**
 * What the methods share: following the work of a request until it ends, asks or becomes a task;
 * call options; progress and log notifications; errors and pages.
 */

import type { CallOptions, ServerCallOptions } from '../core/call.ts'
import type { Interaction, Root, ToolEvent, ToolInvokedEvent } from '../protocol/events.ts'
import { capTimeout } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { RequestHasher } from './call-registry.ts'
import type { McpCallOutcome } from './call.ts'
import { McpCall } from './call.ts'
import {
  createElicitation,
  createRootsQuestion,
  createSamplingQuestion,
} from './client-questions.ts'
import type { McpExchange, RpcErrorObject, RpcParams } from './protocol.ts'
import {
  isAtLeast,
  missingCapabilityError,
  RPC_CODES,
  RpcError,
  toMcpLogLevel,
  TOOLABLE_META_KEYS,
} from './protocol.ts'
import type { McpServer } from './server-types.ts'

/** Answers one method; throws RpcError for faults of the protocol. */
export type McpMethod = (
  server: McpServer,
  params: RpcParams,
  exchange: McpExchange,
) => object | Promise<object>

/** A parameter that has to be a text. */
export function requireTextParam(params: RpcParams, name: string): string {
  const value = params[name]
  if (typeof value !== 'string')
    throw new RpcError(RPC_CODES.invalidParams, `params.${name} is missing or not a text`)
  return value
}

/** How long lists may be cached: all clients see the same, and changes are announced. */
export const CACHE_HINTS = { ttlMs: 60_000, cacheScope: 'public' } as const

/** A request that may ask its client, and the work that it takes. */
type FollowedRequest = {
  readonly method: string
  readonly params: RpcParams
  /** What is called or read, for messages. */
  readonly what: string
  /** After this time the client gets a task instead; by default it waits until the end. */
  readonly taskAfterMs?: number | undefined
  /** Throws RpcError for faults of the protocol. */
  work(options: ServerCallOptions, call: McpCall): Promise<McpCallOutcome>
}

/**
 * Begins the work on a request, or resumes the work that its state names, and waits as long as the
 * client does. Returns the result, the questions that are asked, or the task that it becomes.
 */
export async function followRequest(
  server: McpServer,
  request: FollowedRequest,
  exchange: McpExchange,
): Promise<object> {
  const { calls } = server
  const { method, params, taskAfterMs } = request
  const isResumed = params['requestState'] !== undefined && exchange.client.era === 'modern'
  const hash: RequestHasher = ({ hashRequest }) => hashRequest(method, getRequestSubject(params))
  const call = isResumed
    ? await calls.resume(params, exchange, hash)
    : new McpCall(exchange, params, (started) => runCall(server, request, started))
  if (taskAfterMs === 0) return calls.toTask(call)
  const end = await call.wait(taskAfterMs)
  if (end === 'asked') return calls.suspend(call, hash)
  if (end === 'timed out') return calls.toTask(call)
  call.detach()
  const outcome = call.outcome!
  if ('result' in outcome) return outcome.result
  throw new RpcError(outcome.error.code, outcome.error.message, outcome.error.data)
}

async function runCall(
  server: McpServer,
  { work, what }: FollowedRequest,
  call: McpCall,
): Promise<McpCallOutcome> {
  const reporter = isObserved(call) ? createCallReporter(call, what) : undefined
  server.calls.running.add(call)
  try {
    return await work(createCallOptions(server, call, what, reporter), call)
  } finally {
    server.calls.running.delete(call)
    reporter?.stop()
  }
}

// Everything but what differs between two rounds of the same request.
function getRequestSubject({ name, uri, arguments: given }: RpcParams): unknown {
  return { name, uri, arguments: given ?? {} }
}

/** How a call is made for a client: its questions, completions, folders and events go to it. */
function createCallOptions(
  server: McpServer,
  call: McpCall,
  what: string,
  reporter: CallReporter | undefined,
): ServerCallOptions {
  const { name, supports } = call.client
  const defaults = server.options.call
  const options: { -readonly [Name in keyof ServerCallOptions]: ServerCallOptions[Name] } = {
    ...defaults,
    ...readClientOptions(call.meta, defaults?.timeout),
    cancellation: call.cancellation,
    unrecorded: true,
    answer: (question, signal) => answerByElicitation(server, call, question, signal, what),
    sample: async (request, signal) =>
      (await call.ask(createSamplingQuestion(request), signal)) as string,
    confirm: (question) => confirmByElicitation(server, call, question),
  }
  if (name !== undefined) options.caller = name
  if (reporter) options.onEvent = reporter.onEvent
  if (supports.roots)
    options.roots = async ({ key }, signal) =>
      (await call.ask(createRootsQuestion(key), signal)) as readonly Root[]
  return options
}

// Most clients want nothing before the end. One that can be asked may want it in a later round.
function isObserved({ client, progressToken }: McpCall): boolean {
  if (client.logLevel !== undefined || progressToken !== undefined) return true
  const { elicitation, sampling, roots, tasks } = client.supports
  return tasks || (client.era === 'modern' && (elicitation || sampling || roots))
}

async function answerByElicitation(
  { source: { set } }: McpServer,
  call: McpCall,
  question: Interaction,
  signal: AbortSignal,
  what: string,
): Promise<unknown> {
  if (call.client.supports.elicitation) return call.ask(createElicitation(question), signal)
  if (question.default !== undefined) return undefined
  await call.ask(createElicitation(question), signal).catch((error: unknown) => {
    if (!ToolError.is(error)) throw error
    const form = question.dialogue ? `${what} --session` : what
    throw new ToolError(
      'ANSWER_REQUIRED',
      `'${what}' asks '${question.prompt}', and ${error.message}`,
      {
        details: error.details ?? {},
        suggestion: {
          action: 'use_different_tool',
          fix: `Run it on the command line, where it can be answered: ${set.name} ${form}`,
          example: `${set.name} ${form}`,
          applicability: 'has_placeholders',
        },
      },
    )
  })
  return undefined
}

// A client that cannot ask its user has its own approval before a call, or none is wanted.
async function confirmByElicitation(
  { options }: McpServer,
  call: McpCall,
  question: Interaction,
): Promise<boolean | undefined> {
  if (!call.client.supports.elicitation) return options.confirm === 'always' ? undefined : true
  return (await call.ask(createElicitation(question), call.cancellation)) === true
}

// Hosts that know us may say how a call is made.
function readClientOptions(
  meta: RpcParams | undefined,
  maxTimeout: CallOptions['timeout'],
): CallOptions | undefined {
  const given = meta?.[TOOLABLE_META_KEYS.options]
  if (given === undefined || !isObject(given)) return undefined
  const { dryRun, timeout, idempotencyKey } = given
  const hasTimeout = typeof timeout === 'number' || typeof timeout === 'string'
  try {
    return compact({
      dryRun: dryRun === true || undefined,
      timeout: hasTimeout ? capTimeout(timeout, maxTimeout, 'timeout') : undefined,
      idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
    })
  } catch (error) {
    throw new RpcError(
      RPC_CODES.invalidParams,
      `${TOOLABLE_META_KEYS.options}: ${(error as Error).message}`,
    )
  }
}

/** Carries the events of one call to its client. */
type CallReporter = { onEvent(event: ToolEvent | ToolInvokedEvent): void; stop(): void }

const MAX_BURST = 20
const REFILL_INTERVAL_MS = 100
const HEARTBEAT_INTERVAL_MS = 15_000
const MIN_PROGRESS_STEP = 1e-6

/**
 * Progress goes to clients that gave a token, at most some ten a second and always growing; log
 * lines to those who asked for them. Of several requests of one call the newest counts.
 */
function createCallReporter(call: McpCall, tool: string): CallReporter {
  let progress: ProgressNotifier | undefined
  const heard = (): ProgressNotifier => (progress ??= createProgressNotifier(call))
  if (call.progressToken !== undefined) heard()
  return {
    onEvent(event) {
      if (event.type === 'progress') {
        call.setStatus(event.message)
        if (call.progressToken !== undefined) heard().report(event.message, event.percent)
      } else if (event.type === 'log') {
        const level = toMcpLogLevel(event.level)
        if (isAtLeast(level, call.client.logLevel))
          call.notify('notifications/message', { level, logger: tool, data: event.message })
      }
    },
    stop: () => progress?.stop(),
  }
}

type ProgressNotifier = { report(message: string, percent: number | undefined): void; stop(): void }

function createProgressNotifier(call: McpCall): ProgressNotifier {
  let last = -1
  let knowsShare = false
  let tokens = MAX_BURST
  let refilled = performance.now()
  let held: { readonly message: string; readonly percent: number | undefined } | undefined
  let drain: NodeJS.Timeout | undefined
  // Clients that wait for progress would give up on a tool that works in silence.
  const heartbeat = setInterval(
    () => send('still working', undefined),
    HEARTBEAT_INTERVAL_MS,
  ).unref()

  const send = (message: string, percent: number | undefined): void => {
    knowsShare ||= percent !== undefined
    if (percent !== undefined && percent > last) last = percent
    else last += last < 0 || !knowsShare ? 1 : MIN_PROGRESS_STEP
    if (call.progressToken !== undefined)
      call.notify(
        'notifications/progress',
        compact({
          progressToken: call.progressToken,
          progress: last,
          total: knowsShare ? 100 : undefined,
          message,
        }),
      )
    heartbeat.refresh()
  }
  const flush = (): void => {
    clearTimeout(drain)
    drain = undefined
    if (!held) return
    const { message, percent } = held
    held = undefined
    send(message, percent)
  }
  return {
    report(message, percent) {
      const now = performance.now()
      const earned = Math.floor((now - refilled) / REFILL_INTERVAL_MS)
      tokens = Math.min(MAX_BURST, tokens + earned)
      refilled += earned * REFILL_INTERVAL_MS
      if (tokens > 0 && !held) {
        tokens--
        return send(message, percent)
      }
      // The newest is worth more than the ones before it.
      held = { message, percent }
      drain ??= setTimeout(flush, REFILL_INTERVAL_MS).unref()
    },
    stop() {
      clearInterval(heartbeat)
      flush()
    },
  }
}

/**
 * The failures that are not the tool's result but an error of the protocol: those its author said
 * so, and what the client would have had to declare.
 */
export function toProtocolFailure(outcome: Outcome, call: McpCall): RpcErrorObject | undefined {
  if (outcome.ok) return undefined
  const { code, message, details, suggestion } = outcome.error
  if (code === 'E_PROTOCOL' && Number.isInteger(details?.['code']))
    return compact({ code: details!['code'] as number, message, data: details!['data'] })
  if (code === 'ANSWER_REQUIRED' && call.missingCapabilities && call.client.era === 'modern')
    return {
      ...missingCapabilityError(call.missingCapabilities).toObject(),
      message: suggestion ? `${message}. ${suggestion.fix}` : message,
    }
  return undefined
}

/** The error of a failed read of a resource or prompt. */
export function toReadError(
  outcome: Outcome & { readonly ok: false },
  call: McpCall,
  notFound: RpcErrorObject,
): RpcErrorObject {
  const failure = toProtocolFailure(outcome, call)
  if (failure) return failure
  const { error } = outcome
  if (error.code === 'NOT_FOUND') return notFound
  return new RpcError(
    error.category === 'input' ? RPC_CODES.invalidParams : RPC_CODES.internal,
    error.message,
    { error },
  ).toObject()
}

/**
 * The result of a list method: one page under `field`, and the cursor of the next. A cursor names
 * the last item of a page by its `key`, so that changes of the list in between skip and repeat
 * nothing.
 */
export function toListResult<const Key extends string>(
  field: string,
  items: readonly { readonly [Name in Key]: string }[],
  key: Key,
  { server, params, exchange }: ListRequest,
): object {
  const { cursor } = params
  const start = cursor === undefined ? 0 : findAfterCursor(items, key, cursor)
  const end = start + server.options.pageSize
  const page = items.slice(start, end)
  const nextCursor =
    end < items.length ? Buffer.from(page.at(-1)![key]).toString('base64url') : undefined
  const hints = exchange.client.era === 'modern' ? CACHE_HINTS : {}
  return { ...compact({ [field]: page, nextCursor }), ...hints }
}

type ListRequest = {
  readonly server: McpServer
  readonly params: RpcParams
  readonly exchange: McpExchange
}

function findAfterCursor<Key extends string>(
  items: readonly { readonly [Name in Key]: string }[],
  key: Key,
  cursor: unknown,
): number {
  const last = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : undefined
  const at = last === undefined ? -1 : items.findIndex((item) => item[key] === last)
  if (at === -1)
    throw new RpcError(
      RPC_CODES.invalidParams,
      'the cursor is not one of this list, or what it pointed at is gone: begin again without a cursor',
    )
  return at + 1
}
