/**
 * One run of an agent: the loop of model and tools until nothing is left to call. As a promise, as
 * a stream of events, and inside the call of a tool.
 */

import { createBudget } from '../core/budget.ts'
import { toToolError } from '../core/errors.ts'
import { onAbort, runUntilAborted, toCancelledError } from '../core/lifecycle.ts'
import { createState } from '../core/state/state.ts'
import type { Reply } from '../define/results.ts'
import { ok } from '../define/results.ts'
import type { Context } from '../protocol/context.ts'
import type { Interaction } from '../protocol/events.ts'
import type { Budget } from '../protocol/limits.ts'
import type { FailOptions } from '../protocol/tool-error.ts'
import { reviveToolError, ToolError } from '../protocol/tool-error.ts'
import { compact } from '../util/values.ts'
import {
  AgentRun,
  completeToolResults,
  createUnansweredResult,
  openTranscript,
  validateMessages,
} from './agent-run.ts'
import { assignCallIds, createRepeatDetector, runToolCalls } from './tool-calls.ts'
import type { PrepareTurn } from './turn.ts'
import { createTurnPreparer, estimateUsage, requestTurn } from './turn.ts'
import type {
  AgentEvent,
  AgentMessage,
  AgentOptions,
  AgentResult,
  AgentRunOptions,
  AgentStatus,
  ModelReply,
} from './types.ts'

/** One run of an agent, from the task to the end. Throws only for options that make no sense. */
export async function runAgent(
  defaults: AgentOptions,
  task: string | readonly AgentMessage[],
  { signal, ...own }: AgentRunOptions,
): Promise<AgentResult> {
  const options: AgentOptions = { ...defaults, ...own, call: { ...defaults.call, ...own.call } }
  if (typeof task !== 'string') validateMessages(task)
  // A conversation that was interrupted can be continued.
  const before: readonly AgentMessage[] =
    typeof task === 'string' ? [] : completeToolResults(task, 'interrupted')
  const budget =
    options.budget && ('spend' in options.budget ? options.budget : createBudget(options.budget))
  const ownState =
    options.state === undefined && (options.prompt ?? options.guards) ? createState() : undefined
  const state = options.state ?? ownState
  const prepareTurn = createTurnPreparer(options, state)
  const transcript =
    options.transcript === undefined ? undefined : openTranscript(options.transcript)
  const until = createTimeLimit(signal, budget)
  const run = new AgentRun(options, { signal: until.signal, budget, state, transcript }, before)
  transcript?.write({
    type: 'start',
    agent: options.name ?? 'agent',
    model: options.model.name,
    messages: run.messages,
  })
  if (typeof task === 'string') run.addMessage({ role: 'user', text: task })
  try {
    const reached = await runConversation(run, prepareTurn).catch((error: unknown) =>
      toConversationEnd(error, until.signal, signal),
    )
    const end: ConversationEnd =
      reached.status === 'completed' && run.problem
        ? { status: 'failed', error: run.problem }
        : reached
    answerOpenCalls(run, end.status)
    const result = toAgentResult(run, end)
    run.emit({ type: 'end', result })
    // A run whose last event could not be delivered or recorded has failed too.
    const { problem } = run
    return problem && result.status === 'completed'
      ? { ...result, status: 'failed', error: problem.toObject() }
      : result
  } finally {
    until.stop()
    transcript?.close()
    await ownState?.close()
  }
}

/** Combines the signal of the caller with the remaining time. */
function createTimeLimit(
  outer: AbortSignal | undefined,
  budget: Budget | undefined,
): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const stopListening =
    outer && onAbort(outer, () => controller.abort(toCancelledError(outer.reason)))
  if (outer?.aborted) controller.abort(toCancelledError(outer.reason))
  const left = budget?.remaining('time')
  const timer =
    left === undefined
      ? undefined
      : setTimeout(() => controller.abort(createTimeBudgetError(budget!)), left * 1000)
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer)
      stopListening?.()
    },
  }
}

function createTimeBudgetError(budget: Budget): ToolError {
  return new ToolError('TIMEOUT', `the budget of time (${String(budget.limits.time)}) is used up`, {
    details: { dimension: 'time', used: budget.used.seconds },
  })
}

function toConversationEnd(
  thrown: unknown,
  signal: AbortSignal,
  outer: AbortSignal | undefined,
): ConversationEnd {
  if (outer?.aborted) return { status: 'cancelled', error: toCancelledError(outer.reason) }
  const error = signal.aborted ? toCancelledError(signal.reason) : toToolError(thrown)
  const isSpent =
    error.code === 'E_BUDGET_EXCEEDED' ||
    (error.code === 'TIMEOUT' && error.details?.['dimension'] === 'time')
  return { status: isSpent ? 'budget' : 'failed', error }
}

// Every provider refuses a conversation with unanswered calls.
function answerOpenCalls(run: AgentRun, why: string): void {
  const last = run.messages.findLast((message) => message.role === 'assistant')
  if (!last) return
  const answered = new Set(
    run.messages
      .slice(run.messages.indexOf(last))
      .map((message) => (message.role === 'tool' ? message.id : undefined)),
  )
  for (const { id, name } of last.calls) {
    if (!answered.has(id)) run.addMessage(createUnansweredResult(id, name, why))
  }
}

function toAgentResult(
  { messages, turns, usage }: AgentRun,
  { status, error }: ConversationEnd,
): AgentResult {
  const last = messages.findLast(
    (message) => message.role === 'assistant' && (status === 'completed' || message.text !== ''),
  )
  return compact({
    status,
    text: last?.text ?? '',
    turns,
    usage: { ...usage },
    messages,
    error: error?.toObject(),
  })
}

type StartAgentRun = (options: {
  readonly signal: AbortSignal
  readonly onEvent: (event: AgentEvent) => void
}) => Promise<AgentResult>

/** Yields the events of a run. Leaving the loop cancels the run and waits for its end. */
export async function* streamAgentEvents(
  run: StartAgentRun,
  outer: AbortSignal | undefined,
): AsyncGenerator<AgentEvent, void, undefined> {
  const left = new AbortController()
  const events: AgentEvent[] = []
  let wake: () => void = () => undefined
  const done = run({
    signal: outer ? AbortSignal.any([outer, left.signal]) : left.signal,
    onEvent(event) {
      events.push(event)
      wake()
    },
  })
  let over = false
  const end = done.finally(() => {
    over = true
    wake()
  })
  end.catch(() => undefined)
  try {
    for (;;) {
      while (events.length > 0) yield events.shift()!
      if (over) break
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    await end
  } finally {
    left.abort('nobody listens any more')
    await end.catch(() => undefined)
  }
}

/** Options for an agent inside a tool: questions go to the caller, events become progress. */
export function createNestedRunOptions(
  ctx: Context,
): Required<Pick<AgentRunOptions, 'signal' | 'answer' | 'onEvent'>> {
  return {
    signal: ctx.signal,
    answer: (question) => askCaller(ctx, question),
    onEvent: (event) => reportProgress(event, ctx),
  }
}

/** Turns a run into the result of a tool: its text, or the error that ended it. */
export function toToolReply({
  status,
  error,
  text,
  turns,
  usage,
}: AgentResult): Reply<Pick<AgentResult, 'text' | 'turns' | 'usage'>> {
  if (status === 'completed') return ok({ text, turns, usage }, { message: text, hidden: true })
  const failure = error ?? new ToolError('INTERNAL', 'the agent failed').toObject()
  const details = { ...failure.details, status, text, turns, usage }
  throw reviveToolError({ ...failure, details })
}

// Undefined when no one can answer.
async function askCaller(
  ctx: Context,
  { kind, prompt, options, schema, timeout, key, default: preset }: Interaction,
): Promise<unknown> {
  const common = compact({ prompt, timeout, key })
  try {
    if (kind === 'confirm') return await ctx.ask({ kind, ...common })
    if (kind === 'decision')
      return await ctx.ask({
        kind,
        ...common,
        options: options ?? [],
        ...compact({ default: typeof preset === 'string' ? preset : undefined }),
      })
    return await ctx.ask({ kind: 'input', ...common, ...compact({ schema, default: preset }) })
  } catch (error) {
    if (ToolError.is(error) && error.code === 'ANSWER_REQUIRED') return undefined
    throw error
  }
}

function reportProgress(event: AgentEvent, ctx: Context): void {
  if (event.type === 'turn_start') ctx.progress(`turn ${event.turn}`)
  else if (event.type === 'tool_call') ctx.progress(`turn ${event.turn}: calls ${event.name}`)
  else if (event.type === 'tool_result' && !event.outcome.ok)
    ctx.log(
      `${event.name} failed: ${event.outcome.error.code} ${event.outcome.error.message}`,
      'warn',
    )
  else if (event.type === 'retry')
    ctx.log(`the model is asked again: ${event.error.message}`, 'warn')
}

const DEFAULT_MAX_TURNS = 20
const EMPTY_REPLY_PROMPT = 'Your last reply was empty. Answer the task in words, or call a tool.'

/** How a conversation ended. */
type ConversationEnd = { readonly status: AgentStatus; readonly error?: ToolError }

/** Alternates between model and tools until no calls are left. Throws what ends it before. */
async function runConversation(run: AgentRun, prepareTurn: PrepareTurn): Promise<ConversationEnd> {
  const { maxTurns = DEFAULT_MAX_TURNS } = run.options
  const detectRepeat = createRepeatDetector()
  let emptyBefore = false
  while (run.turns < maxTurns) {
    run.throwIfStopped()
    run.turns += 1
    run.emit({ type: 'turn_start', turn: run.turns })
    // A prompt runs code of its authors, which may take long.
    const setup = await runUntilAborted(run.signal, prepareTurn)
    const reply = await requestTurn(run, setup)
    const calls = assignCallIds(reply.calls, run.turns)
    const { usage, estimated } = estimateUsage({ ...reply, calls }, run.messages)
    const isEmpty = calls.length === 0 && reply.text.trim() === ''
    // Many providers refuse a conversation with an empty message.
    if (!isEmpty)
      run.addMessage(compact({ role: 'assistant', text: reply.text, calls, own: reply.own }))
    run.spend(usage, estimated)
    if (calls.length > 0 && reply.finish !== 'content_filter')
      await runToolCalls(calls, {
        run,
        setup,
        detectRepeat,
        usage,
        isTruncated: reply.finish === 'length',
      })
    else {
      const end = getConversationEnd(reply, isEmpty, emptyBefore)
      if (end) return end
      run.addMessage({ role: 'user', text: EMPTY_REPLY_PROMPT })
    }
    emptyBefore = isEmpty
  }
  run.throwIfStopped()
  return {
    status: 'max_turns',
    error: new ToolError('E_MAX_TURNS', `the model was not done after ${maxTurns} turns`, {
      category: 'runtime',
      recoverable: true,
      suggestion: 'Allow more turns, or give it a smaller task',
      details: { turns: maxTurns },
    }),
  }
}

function getConversationEnd(
  { finish, text }: ModelReply,
  isEmpty: boolean,
  emptyBefore: boolean,
): ConversationEnd | undefined {
  const fail = (code: string, message: string, options: FailOptions): ConversationEnd => ({
    status: 'failed',
    error: new ToolError(code, message, options),
  })
  if (finish === 'content_filter')
    return fail('E_CONTENT_FILTER', 'a filter of the provider stopped the answer of the model', {
      category: 'auth',
      suggestion: { action: 'abort', fix: 'Ask in other words' },
    })
  if (finish === 'length')
    return fail(
      'OUTPUT_LIMIT',
      `the answer of the model was cut off after ${text.length} characters: it may not write more tokens`,
      { suggestion: 'Allow more with maxOutputTokens, or ask for a shorter answer' },
    )
  if (!isEmpty) return { status: 'completed' }
  if (!emptyBefore) return undefined
  return fail('DEPENDENCY', 'the model gave an empty answer twice', {
    retryable: false,
    suggestion: 'Try another model, or say more about the task',
  })
}
