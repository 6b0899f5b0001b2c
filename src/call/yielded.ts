import type { LogLevel, ToolEvent } from '../contract/events.ts'
import { isObject } from '../contract/json.ts'
import { planIn } from '../contract/read-plan.ts'
import { ToolError } from '../contract/tool-error.ts'
import { session, stream } from '../define/events.ts'

/** What a generator tool said: an event to hand out, or its result. */
export type Yield = ToolEvent | { readonly type: 'result'; readonly result: unknown }

type Fields = { readonly [field: string]: unknown }

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]

const READERS: { readonly [type: string]: (fields: Fields) => Yield } = {
  progress: (fields) =>
    stream.progress(
      text(fields['message']),
      typeof fields['percent'] === 'number' ? clampPercent(fields['percent']) : undefined,
      planIn(fields),
    ),
  log: ({ message, level }) =>
    stream.log(text(message), LEVELS.includes(level) ? (level as LogLevel) : 'info'),
  artifact: ({ name, uri }) => stream.artifact(text(name), text(uri)),
  item: ({ value }) => stream.item(value),
  result: ({ result }) => stream.result(result),
  session_start: ({ message, prompt }) =>
    session.start(text(message), prompt === undefined ? undefined : text(prompt)),
  awaiting_input: ({ prompt }) => session.ask(prompt === undefined ? undefined : text(prompt)),
  session_end: ({ status }) => session.end(status === undefined ? undefined : text(status)),
}

/** Reads what a generator tool yielded; throws INTERNAL for what is no event. */
export function readYield(yielded: unknown): Yield {
  const type = isObject(yielded) ? yielded['type'] : undefined
  const read = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (read) return read(yielded as Fields)
  throw new ToolError(
    'INTERNAL',
    `a generator tool must yield events such as stream.progress('...') or session.ask(); it yielded ${preview(yielded)}`,
  )
}

/** A percentage that can be drawn. */
export function clampPercent(percent: number): number {
  return Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : 0
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : preview(value)
}

function preview(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 80)
  } catch {
    return typeof value
  }
}
