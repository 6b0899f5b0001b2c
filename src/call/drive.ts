import type { ToolEvent } from '../contract/events.ts'
import { leaveBehind } from './left-behind.ts'
import { onAbort } from './on-abort.ts'
import { readYield } from './yielded.ts'

const STEPS_WITHOUT_A_PAUSE = 100

/** What a generator function returns. */
export type AnyGenerator =
  Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>

/** What a generator tool talks to while it runs. */
export type Conversation = {
  /** Hands out an event; a promise holds the generator back. */
  emit(event: ToolEvent): void | Promise<void>
  /** Waits for the next answer; undefined means that nobody answers any more. Throws where nobody can be asked at all. */
  answer(prompt: string): Promise<unknown>
  readonly signal: AbortSignal
}

/** True for what a generator function returns, and not for arrays, strings or other iterables. */
export function isGenerator(value: unknown): value is AnyGenerator {
  if (typeof value !== 'object' || value === null) return false
  const candidate = value as Partial<AnyGenerator> & {
    [Symbol.asyncIterator]?: unknown
    [Symbol.iterator]?: unknown
  }
  return (
    typeof candidate.next === 'function' &&
    typeof candidate.return === 'function' &&
    (typeof candidate[Symbol.asyncIterator] === 'function' ||
      typeof candidate[Symbol.iterator] === 'function')
  )
}

/** Runs a streaming or session tool to its end; gives its return value, else what its `result` event carried. */
export async function driveGenerator(
  generator: AnyGenerator,
  talk: Conversation,
): Promise<unknown> {
  let result: unknown
  let closed = false
  let saidGoodbye = false
  let reply: unknown
  let steps = 0
  // Told at once, not when its reader or its partner has answered: they may never do.
  const stopListening = onAbort(talk.signal, () => leave(generator))
  try {
    while (!talk.signal.aborted) {
      // A generator that waits for nothing would keep timers, signals and other calls out.
      if (++steps % STEPS_WITHOUT_A_PAUSE === 0)
        await new Promise((resolve) => setImmediate(resolve))
      const step = await generator.next(reply)
      reply = undefined
      if (step.done) return step.value === undefined ? result : step.value
      if (talk.signal.aborted || saidGoodbye) break
      const event = readYield(step.value)
      if (event.type === 'result') {
        result = event.result
        continue
      }
      await talk.emit(event)
      // What the tool returns right behind its last word is still its result.
      saidGoodbye = event.type === 'session_end'
      if (event.type !== 'session_start' && event.type !== 'awaiting_input') continue
      // Nobody answers any more: the tool is told once, and a tool that asks on is ended.
      if (closed) break
      const answer = await talk.answer(event.prompt)
      closed = answer === undefined
      reply = closed ? { action: 'quit' } : answer
    }
    return result
  } finally {
    stopListening()
    leave(generator)
  }
}

// A generator that hangs or throws in its own clean-up must not hold the answer back; one that has ended is not disturbed.
function leave(generator: AnyGenerator): void {
  leaveBehind((async () => generator.return(undefined))())
}
