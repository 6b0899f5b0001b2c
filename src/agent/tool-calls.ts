/**
 * Runs the tool calls of one reply: in parallel where that is safe, with consent for destructive
 * tools, and with output that fits the model.
 */

import type { CallOptions } from '../core/call.ts'
import { toToolError } from '../core/errors.ts'
import { redactInput, redactOutcome } from '../core/events.ts'
import type { Interaction, Sampler } from '../protocol/events.ts'
import type { TokenUsage } from '../protocol/limits.ts'
import type { ContentBlock, Outcome } from '../protocol/outcome.ts'
import { renderContentText, renderOutcomeText } from '../protocol/output.ts'
import { createToolCall } from '../protocol/providers/tool-calls.ts'
import { createFailureOutcome, ToolError } from '../protocol/tool-error.ts'
import { answerSingleCall } from '../registry/tool-calls.ts'
import { compact, isDeeperThan, isObject } from '../util/values.ts'
import type { AgentRun } from './agent-run.ts'
import type { TurnSetup } from './turn.ts'
import { estimateUsage, parseModelReply } from './turn.ts'
import type { AgentMessage, Approve, ModelCall } from './types.ts'

/** Calls of one reply that run at the same time at most. */
const MAX_PARALLEL_CALLS = 8
/** Calls of one reply that are answered at all. */
const MAX_CALLS_PER_REPLY = 128
const MAX_ARGUMENT_DEPTH = 1000
/** Stands for arguments that nobody could write down; it is no JSON, and so the model is told. */
const TOO_DEEP_ARGUMENTS = '[nested too deeply]'

type ReplyContext = {
  readonly work: AgentRun
  readonly offer: TurnSetup
  readonly repeats: RepeatDetector
  readonly usage: TokenUsage
  /** The reply ended because its tokens were used up. */ readonly isTruncated: boolean
}

type AgentToolMessage = Extract<AgentMessage, { role: 'tool' }>

/**
 * Runs the calls of a reply, side by side where that is allowed, and adds a message for each, in
 * their order. Throws what ends the run; what was answered before that is in the conversation.
 */
export async function runToolCalls(
  calls: readonly ModelCall[],
  answering: ReplyContext,
): Promise<void> {
  const { work } = answering
  for (const group of groupParallelCalls(calls, answering)) {
    work.throwIfStopped()
    const settled = await Promise.allSettled(
      group.map((call) => runToolCall(call, findCallRefusal(call, calls, answering), answering)),
    )
    for (const one of settled) if (one.status === 'fulfilled') work.messages.push(one.value)
    const broken = settled.find((one) => one.status === 'rejected')
    if (broken) throw broken.reason
  }
}

/**
 * The same calls in a form that can be told and written down: with ids that are there and are
 * unique, and without arguments that no stack is deep enough for.
 */
export function assignCallIds(calls: readonly ModelCall[], turn: number): readonly ModelCall[] {
  const taken = new Set<string>()
  return calls.map((call, index) => {
    const given =
      typeof call.id === 'string' && call.id !== '' ? call.id : `call_${turn}_${index + 1}`
    let id = given
    for (let number = 2; taken.has(id); number += 1) id = `${given}_${number}`
    taken.add(id)
    return {
      ...call,
      id,
      name: typeof call.name === 'string' ? call.name : '',
      arguments: isDeeperThan(MAX_ARGUMENT_DEPTH, call.arguments)
        ? TOO_DEEP_ARGUMENTS
        : call.arguments,
    }
  })
}

// Neighbours that may run together are one group, so that what stands before another call happens
// before it.
function* groupParallelCalls(
  calls: readonly ModelCall[],
  { work, offer }: ReplyContext,
): Generator<readonly ModelCall[]> {
  const { parallel = 'safe' } = work.options
  const isSafe = ({ name }: ModelCall): boolean =>
    parallel === 'all' ||
    (parallel === 'safe' && offer.find(name)?.entry.definition.annotations.readOnly === true)
  let group: ModelCall[] = []
  for (const call of calls) {
    if (
      group.length > 0 &&
      (!isSafe(call) || !isSafe(group[0]!) || group.length === MAX_PARALLEL_CALLS)
    ) {
      yield group
      group = []
    }
    group.push(call)
  }
  if (group.length > 0) yield group
}

async function runToolCall(
  call: ModelCall,
  refusal: ToolError | undefined,
  { work, offer, repeats, usage }: ReplyContext,
): Promise<AgentToolMessage> {
  const { id, name } = call
  const of = { turn: work.turns, id, name }
  const read = createToolCall('openai', id, name, call.arguments)
  const tool = offer.find(name)
  work.emit({
    type: 'tool_call',
    ...of,
    input: read.arguments
      ? redactInput(tool?.entry.definition ?? { hooks: {} }, read.arguments)
      : call.arguments,
  })
  const outcome = refusal ? createFailureOutcome(refusal.toObject(), read.name) : await perform()
  work.trackOutcome(outcome)
  const { text, content } = fitToolOutput(outcome, work.options.outputLimit)
  const notice = repeats.getNotice(name, call.arguments, text)
  const told = notice === undefined ? text : `${text}\n\n${notice}`
  work.emit({
    type: 'tool_result',
    ...of,
    ok: outcome.ok,
    text: told,
    outcome: tool ? redactOutcome(tool.entry.definition, outcome) : outcome,
  })
  const message: AgentToolMessage = work.redact(
    compact({ role: 'tool', id, name, text: told, content, failed: !outcome.ok || undefined }),
  )
  work.recordMessage(message)
  return message

  async function perform(): Promise<Outcome> {
    try {
      return await answerSingleCall(
        read,
        {
          names: () => offer.names,
          find: () =>
            tool && {
              inputSchema: async () =>
                (await tool.entry.definition.compiled()).manifest.inputSchema,
              call: (input) =>
                tool.call(
                  input,
                  createCallOptions({ work, of, input, usage, promptName: offer.promptName }),
                ),
            },
        },
        isRethrown,
      )
    } catch (error) {
      if (!ToolError.is(error)) throw error
      const late = getTimeoutCause(error)
      // The time of one call is not that of the run.
      if (late) return (work.throwIfStopped(), createFailureOutcome(late.toObject(), read.name))
      if (error.code !== 'E_VISIBILITY_EXPANSION') throw error
      return openFor(error)
    }
  }

  function openFor(error: ToolError): Outcome {
    const keys = getSectionKeys(error)
    try {
      offer.open?.(keys)
    } catch (problem) {
      return createFailureOutcome(toToolError(problem).toObject(), read.name)
    }
    if (keys.length === 0) return createFailureOutcome(error.toObject(), read.name)
    work.emit({ type: 'sections_opened', turn: work.turns, keys })
    return {
      ok: true,
      status: 'success',
      result: null,
      message: `Opened: ${keys.join(', ')}. The whole text stands in your instructions now, and the tools of it are yours.`,
      meta: { tool: name, duration_ms: 0 },
    }
  }
}

function findCallRefusal(
  call: ModelCall,
  calls: readonly ModelCall[],
  { isTruncated: isCut }: ReplyContext,
): ToolError | undefined {
  const index = calls.indexOf(call)
  const { name, arguments: given } = call
  if (index >= MAX_CALLS_PER_REPLY)
    return new ToolError(
      'INVALID_INPUT',
      `'${name}' was not called: one reply may hold ${MAX_CALLS_PER_REPLY} calls`,
      { suggestion: 'Call it again, in a reply with fewer calls' },
    )
  // No arguments are allowed arguments, but these may not have been all.
  const mayBeCut =
    isCut &&
    index === calls.length - 1 &&
    (typeof given === 'string' ? given.trim() === '' : !isObject(given))
  return mayBeCut
    ? new ToolError(
        'INVALID_INPUT',
        `'${name}' was not called: your reply was cut off before its arguments`,
        { suggestion: 'Call it again, in a shorter reply' },
      )
    : undefined
}

const RETHROWN_CODES = ['E_PROMPT_EVALUATION', 'E_VISIBILITY_EXPANSION']

function isRethrown(error: unknown): boolean {
  return ToolError.is(error) && RETHROWN_CODES.includes(error.code)
}

function getTimeoutCause({ code, cause }: ToolError): ToolError | undefined {
  return code === 'E_PROMPT_EVALUATION' && ToolError.is(cause) && cause.code === 'TIMEOUT'
    ? cause
    : undefined
}

function getSectionKeys({ details }: ToolError): readonly string[] {
  const keys: unknown = details?.['keys']
  return Array.isArray(keys) ? keys.map(String) : []
}

type ToolCallReference = { readonly turn: number; readonly id: string; readonly name: string }
type ToolCallSetup = {
  readonly work: AgentRun
  readonly of: ToolCallReference
  readonly input: unknown
  readonly usage: TokenUsage
  readonly promptName: string | undefined
}

/** How a tool is called for a model: what the run shares, who consents, and who hears of it. */
function createCallOptions({ work, of, input, usage, promptName }: ToolCallSetup): CallOptions {
  const {
    options: { model, guards, answer, call = {} },
    resources: { state, budget },
    signal,
  } = work
  return {
    sample: createSampler(work),
    ...call,
    signal,
    ...compact({ state, budget, guards, answer }),
    confirm: createConfirm(work, of, input),
    invocation: {
      ...call.invocation,
      callId: of.id,
      adapter: model.name,
      usage,
      ...compact({ promptName }),
    },
    onEvent: async (event) => {
      if (event.type !== 'tool_invoked') work.emit({ type: 'tool_progress', ...of, event })
      await call.onEvent?.(event)
    },
  }
}

function createConfirm(
  work: AgentRun,
  of: ToolCallReference,
  input: unknown,
): NonNullable<CallOptions['confirm']> {
  const { approve, answer } = work.options
  if (typeof approve === 'boolean') return approve
  const ask: Approve | undefined =
    approve ??
    (answer &&
      (async ({ question, signal }) => {
        const given: unknown = await answer(question, signal)
        return typeof given === 'boolean' ? given : undefined
      }))
  if (!ask) return false
  return (question: Interaction) =>
    work.runExclusive(async () => {
      work.emit({ type: 'approval', ...of, prompt: question.prompt })
      const approved = await ask({ tool: of.name, input, question, signal: work.signal })
      work.emit({ type: 'approval', ...of, prompt: question.prompt, approved: approved ?? null })
      return approved
    })
}

// A tool that needs a model gets that of the agent.
function createSampler(work: AgentRun): Sampler {
  return async ({ prompt, system, max_tokens, temperature, stop_sequences }, signal) => {
    const messages: readonly AgentMessage[] = [
      ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
      { role: 'user', text: prompt },
    ]
    const { model } = work.options
    const reply = parseModelReply(
      await model.generate(
        compact({
          messages,
          tools: [],
          maxOutputTokens: max_tokens,
          temperature,
          stopSequences: stop_sequences,
        }),
        { signal },
      ),
      model.name,
    )
    const { usage, estimated } = estimateUsage(reply, messages)
    work.spend(usage, estimated)
    return reply.text
  }
}

const DEFAULT_OUTPUT_LIMIT = 50_000
/** Characters of base64 that pictures of one message may have. */
const MAX_IMAGE_CHARS = 8 * 1024 * 1024

/** What a model is told about an outcome: text that fits, and pictures that are not too many. */
function fitToolOutput(
  outcome: Outcome,
  limit = DEFAULT_OUTPUT_LIMIT,
): { readonly text: string; readonly content?: readonly ContentBlock[] } {
  const blocks = outcome.ok ? (outcome.content ?? []) : []
  let data = 0
  const shown: ContentBlock[] = []
  const told: string[] = []
  for (const block of blocks) {
    if (block.type === 'image' && (data += block.data.length) <= MAX_IMAGE_CHARS) shown.push(block)
    else told.push(renderContentText(block))
  }
  const text =
    [renderOutcomeText(outcome), ...told].filter((part) => part !== '').join('\n\n') ||
    (shown.length > 0 ? shown.map(renderContentText).join('\n') : 'Done.')
  return compact({ text: elideMiddle(text, limit), content: shown.length > 0 ? shown : undefined })
}

/**
 * A text with its middle taken out where it is too long: the beginning says what it is, the end how
 * it went.
 */
function elideMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const tail = Math.floor(limit / 5)
  const head = limit - tail
  return `${trimLoneSurrogates(text.slice(0, head))}\n\n[${text.length - limit} of ${text.length} characters were left out here: the output is too long. Call the tool again with a narrower request, if you need them.]\n\n${trimLoneSurrogates(text.slice(text.length - tail))}`
}

// Half a character is none.
function trimLoneSurrogates(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

/** How often a call may be repeated with the same answer before the model is told. */
const MAX_IDENTICAL_RESULTS = 3

/** Remembers calls and what came of them. */
type RepeatDetector = {
  /** Advice to go with the answer, where the same call has had the same answer too often. */
  getNotice(name: string, input: unknown, text: string): string | undefined
}

/** Looks for calls that lead nowhere. */
export function createRepeatDetector(): RepeatDetector {
  const known = new Map<string, { readonly text: string; readonly times: number }>()
  return {
    getNotice(name, input, text) {
      const key = `${name} ${JSON.stringify(sortKeys(input))}`
      const before = known.get(key)
      const times = before?.text === text ? before.times + 1 : 1
      known.set(key, { text, times })
      return times < MAX_IDENTICAL_RESULTS
        ? undefined
        : `[You have made this very call ${times} times, and the answer was the same each time. Do not repeat it: use what you know, try another way, or say that you cannot go on.]`
    },
  }
}

// The order of fields means nothing.
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, inner]) => [key, sortKeys(inner)])
}
