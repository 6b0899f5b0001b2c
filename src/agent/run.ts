/**
 * One run of an agent: the loop of model and tools until nothing is left to call. As a promise, as
 * a stream of events, and inside the call of a tool.
 */

import { createBudget } from '../core/budget.ts'
import { toToolError } from '../core/errors.ts'
import { onAbort, runUntilAborted, toCancelledError } from '../core/lifecycle.ts'
import { createState } from '../core/state/state.ts'
import { ok } from '../define/results.ts'
import type { Reply } from '../define/results.ts'
import type { Context } from '../protocol/context.ts'
import type { Interaction } from '../protocol/events.ts'
import type { Budget } from '../protocol/limits.ts'
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
import { createTurnPreparer, estimateUsage, requestTurn } from './turn.ts'
import type { PrepareTurn } from './turn.ts'
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
  given: AgentOptions,
  task: string | readonly AgentMessage[],
  { signal, ...own }: AgentRunOptions,
): Promise<AgentResult> {
  const options: AgentOptions = { ...given, ...own, call: { ...given.call, ...own.call } }
  if (typeof task !== 'string') validateMessages(task)
  // A conversation that broke off in the middle can go on.
  const before: readonly AgentMessage[] =
    typeof task === 'string' ? [] : completeToolResults(task, 'interrupted')
  const budget =
    options.budget && ('spend' in options.budget ? options.budget : createBudget(options.budget))
  const ownState =
    options.state === undefined && (options.prompt ?? options.guards) ? createState() : undefined
  const state = options.state ?? ownState
  const offerFor = createTurnPreparer(options, state)
  const transcript =
    options.transcript === undefined ? undefined : openTranscript(options.transcript)
  const until = createTimeLimit(signal, budget)
  const work = new AgentRun(options, { signal: until.signal, budget, state, transcript }, before)
  transcript?.write({
    type: 'start',
    agent: options.name ?? 'agent',
    model: options.model.name,
    messages: work.messages,
  })
  if (typeof task === 'string') work.addMessage({ role: 'user', text: task })
  try {
    const reached = await runConversation(work, offerFor).catch((error: unknown) =>
      toConversationEnd(error, until.signal, signal),
    )
    const end: ConversationEnd =
      reached.status === 'completed' && work.problem
        ? { status: 'failed', error: work.problem }
        : reached
    answerOpenCalls(work, end.status)
    const result = toAgentResult(work, end)
    work.emit({ type: 'end', result })
    // What nobody could look at or write down is no success, also where only the last of it is
    // missing.
    const { problem } = work
    return problem && result.status === 'completed'
      ? { ...result, status: 'failed', error: problem.toObject() }
      : result
  } finally {
    until.stop()
    transcript?.close()
    await ownState?.close()
  }
}

/** A signal for the time that is left, besides that of the caller. */
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

// A conversation with calls that nobody answered is refused by every provider: it could not go on.
function answerOpenCalls(work: AgentRun, why: string): void {
  const last = work.messages.findLast((message) => message.role === 'assistant')
  if (!last) return
  const answered = new Set(
    work.messages
      .slice(work.messages.indexOf(last))
      .map((message) => (message.role === 'tool' ? message.id : undefined)),
  )
  for (const { id, name } of last.calls) {
    if (!answered.has(id)) work.addMessage(createUnansweredResult(id, name, why))
  }
}

function toAgentResult(
  { messages, turns, usage }: AgentRun,
  { status, error }: ConversationEnd,
): AgentResult {
  const said = messages.findLast(
    (message) => message.role === 'assistant' && (status === 'completed' || message.text !== ''),
  )
  return compact({
    status,
    text: said?.role === 'assistant' ? said.text : '',
    turns,
    usage: { ...usage },
    messages,
    error: error ? error.toObject() : undefined,
  })
}

type StartAgentRun = (options: {
  readonly signal: AbortSignal
  readonly onEvent: (event: AgentEvent) => void
}) => Promise<AgentResult>

/** The events of a run as they come. Leaving the loop cancels the run and waits for its end. */
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

export type AgentToolResult = Pick<AgentResult, 'text' | 'turns' | 'usage'>

/**
 * How an agent runs inside of the call of a tool: questions go to whoever answers the tool, and
 * what it does is the tool's progress.
 */
export function createNestedRunOptions(
  ctx: Context,
): Required<Pick<AgentRunOptions, 'signal' | 'answer' | 'onEvent'>> {
  return {
    signal: ctx.signal,
    answer: (question) => askCaller(ctx, question),
    onEvent: (event) => reportProgress(event, ctx),
  }
}

/** What a run means as the result of a tool: its text, or the error that ended it. */
export function toToolReply({
  status,
  error,
  text,
  turns,
  usage,
}: AgentResult): Reply<AgentToolResult> {
  if (status === 'completed') return ok({ text, turns, usage }, { message: text, hidden: true })
  const { code, ...told } = error ?? new ToolError('INTERNAL', 'the agent failed').toObject()
  throw reviveToolError({ ...told, code, details: { ...told.details, status, text, turns, usage } })
}

// Undefined where nobody is there: whoever asked knows what to do then.
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

/** Model, calls, model, until there is nothing left to call. Throws what ends it before. */
async function runConversation(work: AgentRun, offerFor: PrepareTurn): Promise<ConversationEnd> {
  const { maxTurns = DEFAULT_MAX_TURNS } = work.options
  const repeats = createRepeatDetector()
  let emptyBefore = false
  while (work.turns < maxTurns) {
    work.throwIfStopped()
    work.turns += 1
    work.emit({ type: 'turn_start', turn: work.turns })
    // A prompt is the code of authors, and may take its time.
    const offer = await runUntilAborted(work.signal, offerFor)
    const reply = await requestTurn(work, offer)
    const calls = assignCallIds(reply.calls, work.turns)
    const { usage, estimated } = estimateUsage({ ...reply, calls }, work.messages)
    const isEmpty = calls.length === 0 && reply.text.trim() === ''
    // An empty message is refused by many providers, when they are shown it again.
    if (!isEmpty)
      work.addMessage(compact({ role: 'assistant', text: reply.text, calls, own: reply.own }))
    work.spend(usage, estimated)
    if (calls.length > 0 && reply.finish !== 'content_filter')
      await runToolCalls(calls, {
        work,
        offer,
        repeats,
        usage,
        isTruncated: reply.finish === 'length',
      })
    else {
      const end = getConversationEnd(reply, isEmpty, emptyBefore)
      if (end) return end
      work.addMessage({ role: 'user', text: EMPTY_REPLY_PROMPT })
    }
    emptyBefore = isEmpty
  }
  work.throwIfStopped()
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
  if (finish === 'content_filter')
    return {
      status: 'failed',
      error: new ToolError(
        'E_CONTENT_FILTER',
        'a filter of the provider stopped the answer of the model',
        { category: 'auth', suggestion: { action: 'abort', fix: 'Ask in other words' } },
      ),
    }
  if (finish === 'length')
    return {
      status: 'failed',
      error: new ToolError(
        'OUTPUT_LIMIT',
        `the answer of the model was cut off after ${text.length} characters: it may not write more tokens`,
        { suggestion: 'Allow more with maxOutputTokens, or ask for a shorter answer' },
      ),
    }
  if (!isEmpty) return { status: 'completed' }
  return emptyBefore
    ? {
        status: 'failed',
        error: new ToolError('DEPENDENCY', 'the model gave an empty answer twice', {
          retryable: false,
          suggestion: 'Try another model, or say more about the task',
        }),
      }
    : undefined
}
