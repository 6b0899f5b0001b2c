import { ToolError } from '../../contract/tool-error.ts'
import { untilAborted } from '../../call/running.ts'
import { answerCalls, withIds } from './answer-calls.ts'
import type { AgentStatus } from './agent-type.ts'
import type { ModelReply } from './model-type.ts'
import type { MakeOffer } from './offer.ts'
import { watchRepeats } from './repeats.ts'
import { costOf, takeTurn } from './take-turn.ts'
import type { Work } from './work.ts'

const MAX_TURNS = 20
const SAY_SOMETHING = 'Your last reply was empty. Answer the task in words, or call a tool.'

/** How a conversation ended. */
export type End = { readonly status: AgentStatus; readonly error?: ToolError }

/** Model, calls, model, until there is nothing left to call. Throws what ends it before. */
export async function converse(work: Work, offerFor: MakeOffer): Promise<End> {
  const { maxTurns = MAX_TURNS } = work.options
  const repeats = watchRepeats()
  let emptyBefore = false
  while (work.turns < maxTurns) {
    work.check()
    work.turns += 1
    work.tell({ type: 'turn_start', turn: work.turns })
    // A prompt is the code of authors, and may take its time.
    const offer = await untilAborted(work.signal, offerFor)
    const reply = await takeTurn(work, offer)
    const calls = withIds(reply.calls, work.turns)
    const { usage, estimated } = costOf({ ...reply, calls }, work.messages)
    const isEmpty = calls.length === 0 && reply.text.trim() === ''
    // An empty message is refused by many providers, when they are shown it again.
    if (!isEmpty)
      work.say({ role: 'assistant', text: reply.text, calls, ...(reply.own && { own: reply.own }) })
    work.spend(usage, estimated)
    if (calls.length > 0 && reply.finish !== 'content_filter')
      await answerCalls(calls, { work, offer, repeats, usage, isCut: reply.finish === 'length' })
    else {
      const end = endOf(reply, isEmpty, emptyBefore)
      if (end) return end
      work.say({ role: 'user', text: SAY_SOMETHING })
    }
    emptyBefore = isEmpty
  }
  work.check()
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

function endOf(
  { finish, text }: ModelReply,
  isEmpty: boolean,
  emptyBefore: boolean,
): End | undefined {
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
