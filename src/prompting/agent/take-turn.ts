import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'
import { untilAborted } from '../../call/running.ts'
import type { ModelCall, ModelReply, ModelRequest } from './model-type.ts'
import type { Offer } from './offer.ts'
import type { Work } from './work.ts'

const RETRIES = 3
const FIRST_PAUSE_S = 0.5
const LONGEST_PAUSE_S = 60
/** About so many characters make a token. */
const CHARACTERS = 4

/** Asks the model for its next reply, again where a failure may pass: nothing of a reply that broke has been done. */
export async function takeTurn(work: Work, offer: Offer): Promise<ModelReply> {
  const { model, retries = RETRIES, settings } = work.options
  const request: ModelRequest = {
    ...settings,
    messages: [
      ...(offer.system === undefined ? [] : [{ role: 'system' as const, text: offer.system }]),
      ...work.messages,
    ],
    tools: offer.tools,
  }
  for (let attempt = 1; ; attempt += 1) {
    let streamed = 0
    let over = false
    const onText = (delta: string): void => {
      // A model that was given up may still talk.
      if (over || typeof delta !== 'string' || delta === '') return
      streamed += delta.length
      work.tell({ type: 'text', turn: work.turns, delta })
    }
    try {
      return readReply(
        await untilAborted(work.signal, () =>
          model.generate(request, { signal: work.signal, onText }),
        ),
        model.name,
      )
    } catch (thrown) {
      work.signal.throwIfAborted()
      const error = toToolError(thrown)
      const wait = pauseBefore(error, attempt)
      if (!error.retryable || attempt > retries || wait > LONGEST_PAUSE_S) throw error
      work.tell({
        type: 'retry',
        turn: work.turns,
        attempt,
        wait_s: wait,
        discarded: streamed,
        error: error.toObject(),
      })
      await sleep(wait * 1000, undefined, { signal: work.signal }).catch(() =>
        work.signal.throwIfAborted(),
      )
    } finally {
      over = true
    }
  }
}

/** What a turn cost, guessed by its length where the model does not tell. */
export function costOf(
  reply: ModelReply,
  asked: ModelRequest['messages'],
): {
  readonly usage: { readonly input: number; readonly output: number }
  readonly estimated: boolean
} {
  const { input, output } = reply.usage ?? {}
  const tokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / CHARACTERS)
  return {
    usage: {
      input: count(input) ?? tokens(asked),
      output: count(output) ?? tokens([reply.text, reply.calls]),
    },
    estimated: count(input) === undefined || count(output) === undefined,
  }
}

function count(tokens: unknown): number | undefined {
  return typeof tokens === 'number' && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined
}

function pauseBefore({ details }: ToolError, attempt: number): number {
  const told = details?.['retry_after_s']
  return typeof told === 'number' && told >= 0
    ? told
    : FIRST_PAUSE_S * 2 ** (attempt - 1) * (1 + Math.random() / 4)
}

/** The reply that a model gave. It may be anybody's code: what is no reply fails here, and not somewhere in the loop. Throws DEPENDENCY. */
export function readReply(given: unknown, name: string): ModelReply {
  const bad = (what: string): ToolError =>
    new ToolError('DEPENDENCY', `the model '${name}' gave ${what}`, {
      retryable: false,
      suggestion: 'generate() of a model gives { text, calls }',
    })
  if (!isObject(given)) throw bad('no reply')
  const { text = '', calls = [] } = given
  if (typeof text !== 'string') throw bad('a text that is none')
  if (!Array.isArray(calls) || !calls.every(isObject))
    throw bad('calls that are no list of objects')
  return { ...given, text, calls: calls as unknown as readonly ModelCall[] }
}
