import { isObject } from '../contract/json.ts'
import type { ToolEvent } from '../contract/events.ts'
import { ToolError } from '../contract/tool-error.ts'

type AnyGenerator = Generator<unknown, unknown, unknown> | AsyncGenerator<unknown, unknown, unknown>

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
  const candidate = value as Partial<AnyGenerator> & { [Symbol.asyncIterator]?: unknown; [Symbol.iterator]?: unknown }
  return typeof candidate.next === 'function' && typeof candidate.return === 'function' && (typeof candidate[Symbol.asyncIterator] === 'function' || typeof candidate[Symbol.iterator] === 'function')
}

/** Runs a streaming or session tool to its end; gives its return value, else what its `result` event carried. */
export async function driveGenerator(generator: AnyGenerator, talk: Conversation): Promise<unknown> {
  let result: unknown
  let ended = false
  let closed = false
  let saidGoodbye = false
  let reply: unknown
  try {
    for (;;) {
      const step = await generator.next(reply)
      reply = undefined
      if (step.done) {
        ended = true
        return step.value === undefined ? result : step.value
      }
      if (talk.signal.aborted || saidGoodbye) return result
      const event = readYield(step.value)
      if (event.type === 'result') {
        result = (step.value as { result?: unknown }).result
        continue
      }
      await talk.emit(event as ToolEvent)
      // What the tool returns right behind its last word is still its result.
      saidGoodbye = event.type === 'session_end'
      if (event.type !== 'session_start' && event.type !== 'awaiting_input') continue
      // Nobody answers any more: the tool is told once, and a tool that asks on is ended.
      if (closed) return result
      const answer = await talk.answer((event as { prompt?: string }).prompt ?? '> ')
      closed = answer === undefined
      reply = closed ? { action: 'quit' } : answer
    }
  } finally {
    // A generator that hangs in its own clean-up must not hold the answer back.
    if (!ended) Promise.resolve(generator.return(undefined)).catch(() => undefined)
  }
}

function readYield(yielded: unknown): { readonly type: string } {
  if (isObject(yielded) && typeof yielded['type'] === 'string') return yielded as { type: string }
  throw new ToolError('INTERNAL', `a generator tool must yield events such as stream.progress('…') or session.ask(); it yielded ${preview(yielded)}`)
}

function preview(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 80)
  } catch {
    return typeof value
  }
}
