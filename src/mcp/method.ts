/**
 * What the methods share: following the work of a request until it ends, asks or becomes a task;
 * call options; progress and log notifications; errors and pages.
 */

import type { CallOptions, ServerCallOptions } from '../core/call.ts'
import type {
  Interaction,
  Root,
  RootsProvider,
  ToolEvent,
  ToolInvokedEvent,
} from '../protocol/events.ts'
import type { Duration } from '../protocol/limits.ts'
import { toMilliseconds } from '../protocol/limits.ts'
import type { Outcome } from '../protocol/outcome.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { compact, isObject } from '../util/values.ts'
import type { McpCall, McpCallOutcome } from './call.ts'
import {
  createElicitation,
  createRootsQuestion,
  createSamplingQuestion,
} from './client-questions.ts'
import type { McpExchange, RpcErrorObject, RpcParams } from './protocol.ts'
import {
  hasCapability,
  isAtLeast,
  missingCapabilityError,
  RPC_CODES,
  RpcError,
  supportsTasks,
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

/** How long and by whom lists may be kept: everybody sees the same, and changes are announced. */
export const CACHE_HINTS = { ttlMs: 60_000, cacheScope: 'public' } as const

/** Adds to a list what modern clients want to know about keeping it. */
export function addCacheHints(result: object, { caller }: McpExchange): object {
  return caller.era === 'modern' ? { ...result, ...CACHE_HINTS } : result
}

/** A request that may ask its client, and the work that it takes. */
type FollowedRequest = {
  readonly method: string
  readonly params: RpcParams
  /** What is called or read, for messages. */
  readonly what: string
  /**
   * Milliseconds after which the client gets a task instead; without it the client waits until the
   * end.
   */
  readonly grace?: number | undefined
  /** Throws RpcError for faults of the protocol. */
  work(options: ServerCallOptions, call: McpCall): Promise<McpCallOutcome>
}

/**
 * Begins the work on a request, or goes on with the work that its state names, and waits for it as
 * long as the client does: gives the result, the questions that are asked, or the task that it
 * becomes.
 */
export async function followRequest(
  server: McpServer,
  asking: FollowedRequest,
  exchange: McpExchange,
): Promise<object> {
  const { calls } = server
  const { method, params, what, grace, work } = asking
  const goesOn = params['requestState'] !== undefined && exchange.caller.era === 'modern'
  const call = goesOn
    ? await calls.resume(params, exchange, ({ hashRequest }) =>
        hashRequest(method, getRequestSubject(params)),
      )
    : calls.start(exchange, params, async (started) => {
        const { options, stop } = createCallOptions(server, started, params, what)
        try {
          return await work(options, started)
        } finally {
          stop()
        }
      })
  if (grace === 0) return calls.toTask(call)
  const turn = await call.turn(grace)
  if (turn === 'asked')
    return calls.suspend(call, ({ hashRequest }) => hashRequest(method, getRequestSubject(params)))
  if (turn === 'waited') return calls.toTask(call)
  call.detach()
  const settled = call.outcome!
  if ('error' in settled)
    throw new RpcError(settled.error.code, settled.error.message, settled.error.data)
  return settled.result
}

// Everything but what differs between two rounds of the same request.
function getRequestSubject({ name, uri, arguments: given }: RpcParams): unknown {
  return { name, uri, arguments: given ?? {} }
}

/**
 * How a call is made for a client: its questions, completions, folders and events go over the wire.
 * `stop` ends the reporting.
 */
function createCallOptions(
  server: McpServer,
  call: McpCall,
  params: RpcParams,
  what: string,
): { readonly options: ServerCallOptions; stop(): void } {
  const { caller } = call
  const reporter = isObserved(call) ? createCallReporter(call, what) : undefined
  const listRoots: RootsProvider = async ({ key }, signal) =>
    (await call.ask(createRootsQuestion(key), signal)) as readonly Root[]
  const options: ServerCallOptions = {
    ...server.options.call,
    ...readClientOptions(params, server.options.call?.timeout),
    cancellation: call.cancellation,
    unrecorded: true,
    ...compact({ caller: caller.name, onEvent: reporter ? reporter.onEvent : undefined }),
    answer: (question, signal) => answerByElicitation(server, call, question, signal, what),
    sample: async (request, signal) =>
      (await call.ask(createSamplingQuestion(request), signal)) as string,
    ...compact({ roots: hasCapability(caller, 'roots') ? listRoots : undefined }),
    confirm: (question) => confirmByElicitation(server, call, question),
  }
  return { options, stop: () => reporter?.stop() }
}

// Most calls are made by clients that want to hear nothing before the end; one that can be asked
// may want it in a later round.
function isObserved({ caller, progressToken }: McpCall): boolean {
  const later =
    caller.era === 'modern' &&
    (hasCapability(caller, 'elicitation') ||
      hasCapability(caller, 'sampling') ||
      hasCapability(caller, 'roots'))
  return (
    caller.logLevel !== undefined || progressToken !== undefined || later || supportsTasks(caller)
  )
}

async function answerByElicitation(
  { source }: McpServer,
  call: McpCall,
  question: Interaction,
  signal: AbortSignal,
  what: string,
): Promise<unknown> {
  if (hasCapability(call.caller, 'elicitation'))
    return call.ask(createElicitation(question), signal)
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
          fix: `Run it on the command line, where it can be answered: ${source.name} ${form}`,
          example: `${source.name} ${form}`,
          applicability: 'has_placeholders',
        },
      },
    )
  })
  return undefined
}

// A client that cannot ask its user has asked for approval before it called, or was told not to.
async function confirmByElicitation(
  { options }: McpServer,
  call: McpCall,
  question: Interaction,
): Promise<boolean | undefined> {
  if (!hasCapability(call.caller, 'elicitation'))
    return options.confirm === 'always' ? undefined : true
  return (await call.ask(createElicitation(question), call.cancellation)) === true
}

// Hosts that know us may say how a call is made.
function readClientOptions(params: RpcParams, longest: CallOptions['timeout']): CallOptions {
  const meta = params['_meta']
  const given = isObject(meta) ? meta[TOOLABLE_META_KEYS.options] : undefined
  if (!isObject(given)) return {}
  const { dryRun, timeout, idempotencyKey } = given
  return compact({
    dryRun: dryRun === true || undefined,
    timeout:
      typeof timeout === 'number' || typeof timeout === 'string'
        ? capTimeout(timeout, longest)
        : undefined,
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
  })
}

// What the operator allows cannot be stretched by a client.
function capTimeout(wanted: Duration, longest: Duration | undefined): Duration {
  try {
    return toMilliseconds(wanted, 'timeout') > toMilliseconds(longest ?? wanted, 'timeout')
      ? longest!
      : wanted
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
        if (call.progressToken !== undefined) heard().tell(event.message, event.percent)
      } else if (event.type === 'log') {
        const level = toMcpLogLevel(event.level)
        if (isAtLeast(level, call.caller.logLevel))
          call.notify('notifications/message', { level, logger: tool, data: event.message })
      }
    },
    stop: () => progress?.stop(),
  }
}

type ProgressNotifier = { tell(message: string, percent: number | undefined): void; stop(): void }

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
    tell(message, percent) {
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
export function toProtocolFailure(outcome: Outcome, call: McpCall): McpCallOutcome | undefined {
  if (outcome.ok) return undefined
  const { code, message, details, suggestion } = outcome.error
  if (code === 'E_PROTOCOL' && Number.isInteger(details?.['code']))
    return { error: compact({ code: details!['code'] as number, message, data: details!['data'] }) }
  if (code === 'ANSWER_REQUIRED' && call.missingCapabilities && call.caller.era === 'modern')
    return {
      error: {
        ...missingCapabilityError(call.missingCapabilities).toObject(),
        message: suggestion ? `${message}. ${suggestion.fix}` : message,
      },
    }
  return undefined
}

/** A failed read of a resource or prompt: who asked wrongly hears so. */
export function toReadError(
  outcome: Outcome & { readonly ok: false },
  call: McpCall,
  notFound: RpcErrorObject,
): RpcErrorObject {
  const settled = toProtocolFailure(outcome, call)
  if (settled && 'error' in settled) return settled.error
  const { error } = outcome
  if (error.code === 'NOT_FOUND') return notFound
  return new RpcError(
    error.category === 'input' ? RPC_CODES.invalidParams : RPC_CODES.internal,
    error.message,
    { error },
  ).toObject()
}

/** One page of a list, and where the next begins. */
type ListPage<Item> = { readonly items: readonly Item[]; readonly nextCursor?: string }

/**
 * Cuts a page out of a list. A cursor names the last item that was given, so that changes of the
 * list in between skip and repeat nothing.
 */
export function paginate<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  params: RpcParams,
  size: number,
): ListPage<Item> {
  const { cursor } = params
  const start = cursor === undefined ? 0 : findAfterCursor(items, keyOf, cursor)
  const end = start + size
  if (start === 0 && end >= items.length) return { items }
  const cut = items.slice(start, end)
  return compact({
    items: cut,
    nextCursor:
      end < items.length ? Buffer.from(keyOf(cut.at(-1)!)).toString('base64url') : undefined,
  })
}

function findAfterCursor<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
  cursor: unknown,
): number {
  const key = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : undefined
  const at = key === undefined ? -1 : items.findIndex((item) => keyOf(item) === key)
  if (at === -1)
    throw new RpcError(
      RPC_CODES.invalidParams,
      'the cursor is not one of this list, or what it pointed at is gone: begin again without a cursor',
    )
  return at + 1
}
