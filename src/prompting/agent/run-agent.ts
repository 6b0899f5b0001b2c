import type { Budget } from '../../contract/budget.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { createBudget } from '../../call/budget.ts'
import { toToolError } from '../../call/failure.ts'
import { onAbort } from '../../call/on-abort.ts'
import { cancelled } from '../../call/running.ts'
import { createState } from '../../call/state/create-state.ts'
import type { AgentMessage } from './model-type.ts'
import { checkMessages, unanswered, withAnswers } from './conversation.ts'
import type { AgentOptions, AgentResult, AgentRunOptions } from './agent-type.ts'
import { converse } from './loop.ts'
import type { End } from './loop.ts'
import { offerOf } from './offer.ts'
import { openTranscript } from './transcript.ts'
import { Work } from './work.ts'

/** One run of an agent, from the task to the end. Throws only for options that make no sense. */
export async function runAgent(
  given: AgentOptions,
  task: string | readonly AgentMessage[],
  { signal, ...own }: AgentRunOptions,
): Promise<AgentResult> {
  const options: AgentOptions = { ...given, ...own, call: { ...given.call, ...own.call } }
  if (typeof task !== 'string') checkMessages(task)
  // A conversation that broke off in the middle can go on.
  const before: readonly AgentMessage[] =
    typeof task === 'string' ? [] : withAnswers(task, 'interrupted')
  const budget =
    options.budget && ('spend' in options.budget ? options.budget : createBudget(options.budget))
  const ownState =
    options.state === undefined && (options.prompt ?? options.guards) ? createState() : undefined
  const state = options.state ?? ownState
  const offerFor = offerOf(options, state)
  const transcript =
    options.transcript === undefined ? undefined : openTranscript(options.transcript)
  const until = limit(signal, budget)
  const work = new Work(options, { signal: until.signal, budget, state, transcript }, before)
  transcript?.write({
    type: 'start',
    agent: options.name ?? 'agent',
    model: options.model.name,
    messages: work.messages,
  })
  if (typeof task === 'string') work.say({ role: 'user', text: task })
  try {
    const reached = await converse(work, offerFor).catch((error: unknown) =>
      endBy(error, until.signal, signal),
    )
    const end: End =
      reached.status === 'completed' && work.problem
        ? { status: 'failed', error: work.problem }
        : reached
    closeOpenCalls(work, end.status)
    const result = resultOf(work, end)
    work.tell({ type: 'end', result })
    // What nobody could look at or write down is no success, also where only the last of it is missing.
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
function limit(
  outer: AbortSignal | undefined,
  budget: Budget | undefined,
): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController()
  const stopListening = outer && onAbort(outer, () => controller.abort(cancelled(outer.reason)))
  if (outer?.aborted) controller.abort(cancelled(outer.reason))
  const left = budget?.remaining('time')
  const timer =
    left === undefined
      ? undefined
      : setTimeout(() => controller.abort(timeIsUp(budget!)), left * 1000)
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer)
      stopListening?.()
    },
  }
}

function timeIsUp(budget: Budget): ToolError {
  return new ToolError('TIMEOUT', `the budget of time (${String(budget.limits.time)}) is used up`, {
    details: { dimension: 'time', used: budget.used.seconds },
  })
}

function endBy(thrown: unknown, signal: AbortSignal, outer: AbortSignal | undefined): End {
  if (outer?.aborted) return { status: 'cancelled', error: cancelled(outer.reason) }
  const error = signal.aborted ? cancelled(signal.reason) : toToolError(thrown)
  const isSpent =
    error.code === 'E_BUDGET_EXCEEDED' ||
    (error.code === 'TIMEOUT' && error.details?.['dimension'] === 'time')
  return { status: isSpent ? 'budget' : 'failed', error }
}

// A conversation with calls that nobody answered is refused by every provider: it could not go on.
function closeOpenCalls(work: Work, why: string): void {
  const last = work.messages.findLast((message) => message.role === 'assistant')
  if (!last) return
  const answered = new Set(
    work.messages
      .slice(work.messages.indexOf(last))
      .map((message) => (message.role === 'tool' ? message.id : undefined)),
  )
  for (const { id, name } of last.calls) {
    if (!answered.has(id)) work.say(unanswered(id, name, why))
  }
}

function resultOf({ messages, turns, usage }: Work, { status, error }: End): AgentResult {
  const said = messages.findLast(
    (message) => message.role === 'assistant' && (status === 'completed' || message.text !== ''),
  )
  return {
    status,
    text: said?.role === 'assistant' ? said.text : '',
    turns,
    usage: { ...usage },
    messages,
    ...(error && { error: error.toObject() }),
  }
}
