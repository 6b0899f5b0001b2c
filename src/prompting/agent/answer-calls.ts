import type { TokenUsage } from '../../contract/budget.ts'
import { isDeeperThan, isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { failedCall, toolCall } from '../../contract/providers/tool-call.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { toToolError } from '../../call/failure.ts'
import { showInput, showOutcome } from '../../call/redact.ts'
import { answerOne } from '../../registry/answer-tool-call.ts'
import { optionsFor } from './call-options.ts'
import { fitOutput } from './fit-output.ts'
import type { AgentMessage, ModelCall } from './model-type.ts'
import type { Offer } from './offer.ts'
import type { Repeats } from './repeats.ts'
import type { Work } from './work.ts'

/** Calls of one reply that run at the same time at most. */
const MOST_AT_ONCE = 8
/** Calls of one reply that are answered at all. */
const MOST_CALLS = 128
const DEEPEST = 1000
/** Stands for arguments that nobody could write down; it is no JSON, and so the model is told. */
const TOO_DEEP = '[nested too deeply]'

export type Answering = {
  readonly work: Work
  readonly offer: Offer
  readonly repeats: Repeats
  readonly usage: TokenUsage
  /** The reply ended because its tokens were used up. */ readonly isCut: boolean
}

type ToolMessage = Extract<AgentMessage, { role: 'tool' }>

/** Runs the calls of a reply, side by side where that is allowed, and adds a message for each, in their order. Throws what ends the run; what was answered before that is in the conversation. */
export async function answerCalls(
  calls: readonly ModelCall[],
  answering: Answering,
): Promise<void> {
  const { work } = answering
  for (const group of inGroups(calls, answering)) {
    work.check()
    const settled = await Promise.allSettled(
      group.map((call) => answer(call, refusalOf(call, calls, answering), answering)),
    )
    for (const one of settled) if (one.status === 'fulfilled') work.messages.push(one.value)
    const broken = settled.find((one) => one.status === 'rejected')
    if (broken) throw broken.reason
  }
}

/** The same calls in a form that can be told and written down: with ids that are there and are unique, and without arguments that no stack is deep enough for. */
export function withIds(calls: readonly ModelCall[], turn: number): readonly ModelCall[] {
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
      arguments: isDeeperThan(DEEPEST, call.arguments) ? TOO_DEEP : call.arguments,
    }
  })
}

// Neighbours that may run together are one group, so that what stands before another call happens before it.
function* inGroups(
  calls: readonly ModelCall[],
  { work, offer }: Answering,
): Generator<readonly ModelCall[]> {
  const { parallel = 'safe' } = work.options
  const isSafe = ({ name }: ModelCall): boolean =>
    parallel === 'all' ||
    (parallel === 'safe' && offer.find(name)?.entry.definition.annotations.readOnly === true)
  let group: ModelCall[] = []
  for (const call of calls) {
    if (
      group.length > 0 &&
      (!isSafe(call) || !isSafe(group[0]!) || group.length === MOST_AT_ONCE)
    ) {
      yield group
      group = []
    }
    group.push(call)
  }
  if (group.length > 0) yield group
}

async function answer(
  call: ModelCall,
  refusal: ToolError | undefined,
  { work, offer, repeats, usage }: Answering,
): Promise<ToolMessage> {
  const { id, name } = call
  const of = { turn: work.turns, id, name }
  const read = toolCall('openai', id, name, call.arguments)
  const tool = offer.find(name)
  work.tell({
    type: 'tool_call',
    ...of,
    input: read.arguments
      ? showInput(tool?.entry.definition ?? { hooks: {} }, read.arguments)
      : call.arguments,
  })
  const outcome = refusal ? failedCall(read, refusal.toObject()) : await perform()
  work.notice(outcome)
  const { text, content } = fitOutput(outcome, work.options.outputLimit)
  const notice = repeats.notice(name, call.arguments, text)
  const told = notice === undefined ? text : `${text}\n\n${notice}`
  work.tell({
    type: 'tool_result',
    ...of,
    ok: outcome.ok,
    text: told,
    outcome: tool ? showOutcome(tool.entry.definition, outcome) : outcome,
  })
  const message: ToolMessage = work.hide({
    role: 'tool',
    id,
    name,
    text: told,
    ...(content && { content }),
    ...(!outcome.ok && { failed: true }),
  })
  work.note(message)
  return message

  async function perform(): Promise<Outcome> {
    try {
      return await answerOne(
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
                  optionsFor({ work, of, input, usage, promptName: offer.promptName }),
                ),
            },
        },
        raises,
      )
    } catch (error) {
      if (!ToolError.is(error)) throw error
      const late = lateness(error)
      // The time of one call is not that of the run.
      if (late) return (work.check(), failedCall(read, late.toObject()))
      if (error.code !== 'E_VISIBILITY_EXPANSION') throw error
      return openFor(error)
    }
  }

  function openFor(error: ToolError): Outcome {
    const keys = keysOf(error)
    try {
      offer.open?.(keys)
    } catch (problem) {
      return failedCall(read, toToolError(problem).toObject())
    }
    if (keys.length === 0) return failedCall(read, error.toObject())
    work.tell({ type: 'sections_opened', turn: work.turns, keys })
    return {
      ok: true,
      status: 'success',
      result: null,
      message: `Opened: ${keys.join(', ')}. The whole text stands in your instructions now, and the tools of it are yours.`,
      meta: { tool: name, duration_ms: 0 },
    }
  }
}

function refusalOf(
  call: ModelCall,
  calls: readonly ModelCall[],
  { isCut }: Answering,
): ToolError | undefined {
  const index = calls.indexOf(call)
  const { name, arguments: given } = call
  if (index >= MOST_CALLS)
    return new ToolError(
      'INVALID_INPUT',
      `'${name}' was not called: one reply may hold ${MOST_CALLS} calls`,
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

const RAISED = ['E_PROMPT_EVALUATION', 'E_VISIBILITY_EXPANSION']

function raises(error: unknown): boolean {
  return ToolError.is(error) && RAISED.includes(error.code)
}

function lateness({ code, cause }: ToolError): ToolError | undefined {
  return code === 'E_PROMPT_EVALUATION' && ToolError.is(cause) && cause.code === 'TIMEOUT'
    ? cause
    : undefined
}

function keysOf({ details }: ToolError): readonly string[] {
  const keys: unknown = details?.['keys']
  return Array.isArray(keys) ? keys.map(String) : []
}
