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
import { MEBIBYTE } from '../util/units.ts'
import { compact, isDeeperThan, isObject, toStableJson } from '../util/values.ts'
import type { AgentRun } from './agent-run.ts'
import type { TurnSetup } from './turn.ts'
import { estimateUsage, parseModelReply } from './turn.ts'
import type { AgentMessage, Approve, ModelCall, ToolCallRef, ToolResultMessage } from './types.ts'

/** Calls of one reply that run at the same time at most. */
const MAX_PARALLEL_CALLS = 8
/** Calls of one reply that are answered at all. */
const MAX_CALLS_PER_REPLY = 128
const MAX_ARGUMENT_DEPTH = 1000
/** Replaces arguments that are nested too deeply. It is no JSON, so the model gets an error. */
const TOO_DEEP_ARGUMENTS = '[nested too deeply]'

type ReplyContext = {
  readonly run: AgentRun
  readonly setup: TurnSetup
  readonly detectRepeat: RepeatDetector
  readonly usage: TokenUsage
  /** The reply ended because its tokens were used up. */
  readonly isTruncated: boolean
}

/**
 * Runs the calls of a reply, in parallel where that is allowed, and adds a message for each, in order.
 * Throws what ends the run; earlier results are in the conversation.
 */
export async function runToolCalls(
  calls: readonly ModelCall[],
  context: ReplyContext,
): Promise<void> {
  const { run } = context
  for (const group of groupParallelCalls(calls, context)) {
    run.throwIfStopped()
    const settled = await Promise.allSettled(
      group.map((call) => runToolCall(call, findCallRefusal(call, calls, context), context)),
    )
    for (const one of settled) if (one.status === 'fulfilled') run.messages.push(one.value)
    const broken = settled.find((one) => one.status === 'rejected')
    if (broken) throw broken.reason
  }
}

/** Gives every call a unique id, and replaces arguments that are nested too deeply. */
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

// Only neighbours form a group, so that the order of the other calls is kept.
function* groupParallelCalls(
  calls: readonly ModelCall[],
  { run, setup }: ReplyContext,
): Generator<readonly ModelCall[]> {
  const { parallel = 'safe' } = run.options
  const isSafe = ({ name }: ModelCall): boolean =>
    parallel === 'all' ||
    (parallel === 'safe' && setup.find(name)?.entry.definition.annotations.readOnly === true)
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
  { run, setup, detectRepeat, usage }: ReplyContext,
): Promise<ToolResultMessage> {
  const { id, name } = call
  const of = { turn: run.turns, id, name }
  const read = createToolCall('openai', id, name, call.arguments)
  const tool = setup.find(name)
  run.emit({
    type: 'tool_call',
    ...of,
    input: read.arguments
      ? redactInput(tool?.entry.definition ?? { hooks: {} }, read.arguments)
      : call.arguments,
  })
  const outcome = refusal ? createFailureOutcome(refusal.toObject(), read.name) : await perform()
  run.trackOutcome(outcome)
  const { text, content } = fitToolOutput(outcome, run.options.outputLimit)
  const notice = detectRepeat(name, call.arguments, text)
  const shown = notice === undefined ? text : `${text}\n\n${notice}`
  run.emit({
    type: 'tool_result',
    ...of,
    ok: outcome.ok,
    text: shown,
    outcome: tool ? redactOutcome(tool.entry.definition, outcome) : outcome,
  })
  const message: ToolResultMessage = run.redact(
    compact({ role: 'tool', id, name, text: shown, content, failed: !outcome.ok || undefined }),
  )
  run.recordMessage(message)
  return message

  async function perform(): Promise<Outcome> {
    try {
      return await answerSingleCall(
        read,
        {
          names: () => setup.names,
          find: () =>
            tool && {
              inputSchema: async () =>
                (await tool.entry.definition.compiled()).manifest.inputSchema,
              call: (input) =>
                tool.call(
                  input,
                  createCallOptions({ run, of, input, usage, promptName: setup.promptName }),
                ),
            },
        },
        isRethrown,
      )
    } catch (error) {
      if (!ToolError.is(error)) throw error
      const late = getTimeoutCause(error)
      // A timeout of one call does not end the run.
      if (late) return (run.throwIfStopped(), createFailureOutcome(late.toObject(), read.name))
      if (error.code !== 'E_VISIBILITY_EXPANSION') throw error
      return openFor(error)
    }
  }

  function openFor(error: ToolError): Outcome {
    const keys = getSectionKeys(error)
    try {
      setup.open?.(keys)
    } catch (problem) {
      return createFailureOutcome(toToolError(problem).toObject(), read.name)
    }
    if (keys.length === 0) return createFailureOutcome(error.toObject(), read.name)
    run.emit({ type: 'sections_opened', turn: run.turns, keys })
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
  { isTruncated }: ReplyContext,
): ToolError | undefined {
  const index = calls.indexOf(call)
  const { name, arguments: given } = call
  if (index >= MAX_CALLS_PER_REPLY)
    return new ToolError(
      'INVALID_INPUT',
      `'${name}' was not called: one reply may hold ${MAX_CALLS_PER_REPLY} calls`,
      { suggestion: 'Call it again, in a reply with fewer calls' },
    )
  // A call may have no arguments, but these may be cut off.
  const mayBeCut =
    isTruncated &&
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

type ToolCallSetup = {
  readonly run: AgentRun
  readonly of: ToolCallRef
  readonly input: unknown
  readonly usage: TokenUsage
  readonly promptName: string | undefined
}

/** Creates the options of a call: what the run shares, consent and events. */
function createCallOptions({ run, of, input, usage, promptName }: ToolCallSetup): CallOptions {
  const {
    options: { model, guards, answer, call = {} },
    resources: { state, budget },
    signal,
  } = run
  return {
    sample: createSampler(run),
    ...call,
    signal,
    ...compact({ state, budget, guards, answer }),
    confirm: createConfirm(run, of, input),
    invocation: {
      ...call.invocation,
      callId: of.id,
      adapter: model.name,
      usage,
      ...compact({ promptName }),
    },
    onEvent: async (event) => {
      if (event.type !== 'tool_invoked') run.emit({ type: 'tool_progress', ...of, event })
      await call.onEvent?.(event)
    },
  }
}

function createConfirm(
  run: AgentRun,
  of: ToolCallRef,
  input: unknown,
): NonNullable<CallOptions['confirm']> {
  const { approve, answer } = run.options
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
    run.runExclusive(async () => {
      run.emit({ type: 'approval', ...of, prompt: question.prompt })
      const approved = await ask({ tool: of.name, input, question, signal: run.signal })
      run.emit({ type: 'approval', ...of, prompt: question.prompt, approved: approved ?? null })
      return approved
    })
}

// Tools that need a model use the one of the agent.
function createSampler(run: AgentRun): Sampler {
  return async ({ prompt, system, max_tokens, temperature, stop_sequences }, signal) => {
    const messages: readonly AgentMessage[] = [
      ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
      { role: 'user', text: prompt },
    ]
    const { model } = run.options
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
    run.spend(usage, estimated)
    return reply.text
  }
}

const DEFAULT_OUTPUT_LIMIT = 50_000
/** Characters of base64 that the images of one message may have. */
const MAX_IMAGE_CHARS = 8 * MEBIBYTE

/** Turns an outcome into text and images within the limits. */
function fitToolOutput(
  outcome: Outcome,
  limit = DEFAULT_OUTPUT_LIMIT,
): { readonly text: string; readonly content?: readonly ContentBlock[] } {
  const blocks = outcome.ok ? (outcome.content ?? []) : []
  let data = 0
  const shown: ContentBlock[] = []
  const described: string[] = []
  for (const block of blocks) {
    if (block.type === 'image' && (data += block.data.length) <= MAX_IMAGE_CHARS) shown.push(block)
    else described.push(renderContentText(block))
  }
  const text =
    [renderOutcomeText(outcome), ...described].filter((part) => part !== '').join('\n\n') ||
    (shown.length > 0 ? shown.map(renderContentText).join('\n') : 'Done.')
  return compact({ text: elideMiddle(text, limit), content: shown.length > 0 ? shown : undefined })
}

/** Removes the middle of a long text: its beginning and end are the most useful. */
function elideMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text
  const tail = Math.floor(limit / 5)
  const head = limit - tail
  return `${trimLoneSurrogates(text.slice(0, head))}\n\n[${text.length - limit} of ${text.length} characters were left out here: the output is too long. Call the tool again with a narrower request, if you need them.]\n\n${trimLoneSurrogates(text.slice(text.length - tail))}`
}

// The cut may have split a character.
function trimLoneSurrogates(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

/** After this many identical results of the same call, the model is warned. */
const MAX_IDENTICAL_RESULTS = 3

/** Returns advice for the model when the same call has had the same result too often. */
type RepeatDetector = (name: string, input: unknown, text: string) => string | undefined

/** Detects calls that lead nowhere. */
export function createRepeatDetector(): RepeatDetector {
  const known = new Map<string, { readonly text: string; readonly times: number }>()
  return (name, input, text) => {
    const key = `${name} ${toStableJson(input)}`
    const before = known.get(key)
    const times = before?.text === text ? before.times + 1 : 1
    known.set(key, { text, times })
    return times < MAX_IDENTICAL_RESULTS
      ? undefined
      : `[You have made this very call ${times} times, and the answer was the same each time. Do not repeat it: use what you know, try another way, or say that you cannot go on.]`
  }
}
