import { stream } from '../../define/events.ts'
import { isReply } from '../../define/results.ts'
import { toPlain } from '../convert/to-plain.ts'
import type { FunctionManifest } from '../manifest.ts'

type AnyIterator = { next(value?: unknown): unknown; return?(value?: unknown): unknown }

const EVENTS: ReadonlySet<unknown> = new Set([
  'progress',
  'log',
  'artifact',
  'item',
  'result',
  'session_start',
  'awaiting_input',
  'session_end',
])

/** The generator that the call pipeline drives: events go through as they are, other values are items. Where the function returns nothing, its items are the result. */
export async function* followYields(
  iterator: AnyIterator,
  { yields, collects }: Pick<FunctionManifest, 'yields' | 'collects'>,
): AsyncGenerator<unknown, unknown, unknown> {
  const items: unknown[] = []
  let over = false
  let reply: unknown
  let said = false
  try {
    for (;;) {
      const step = (await iterator.next(reply)) as IteratorResult<unknown, unknown>
      if (step.done) {
        over = true
        return conclude(step.value, collects && !said ? items : undefined)
      }
      if (yields === 'events' || (yields === 'both' && isEvent(step.value))) {
        said ||= (step.value as { readonly type?: unknown } | undefined)?.type === 'result'
        reply = yield step.value
      } else {
        const item = toPlain(step.value)
        if (collects) items.push(item)
        reply = yield stream.item(item)
      }
    }
  } finally {
    // Whoever stops listening ends the function's own clean-up too.
    if (!over) await iterator.return?.()
  }
}

/** The iterator of anything that gives values one by one; what gives none is its own only value. */
export function iterate(value: unknown): AnyIterator {
  if (typeof value === 'object' && value !== null) {
    if (Symbol.asyncIterator in value)
      return (value as AsyncIterable<unknown>)[Symbol.asyncIterator]()
    if (Symbol.iterator in value) return (value as Iterable<unknown>)[Symbol.iterator]()
    if ('next' in value && typeof value.next === 'function') return value as AnyIterator
  }
  return [value][Symbol.iterator]()
}

function conclude(returned: unknown, items: unknown[] | undefined): unknown {
  if (returned === undefined) return items
  return isReply(returned) ? { ...returned, result: toPlain(returned.result) } : toPlain(returned)
}

function isEvent(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    EVENTS.has((value as { readonly type?: unknown }).type)
  )
}
