import type { LogLevel } from '../../contract/events.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { WarmContext } from './warm-type.ts'

const LEVELS: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]

/** Tells the caller an event of the program; what tells a caller nothing is left out. */
export function tellEvent({ type, message, percent, level, name, uri, value }: JsonObject, ctx: WarmContext): void {
  if (type === 'item') ctx.item?.(value ?? null)
  else if (type === 'progress') ctx.progress?.(String(message ?? ''), typeof percent === 'number' ? percent : undefined)
  else if (type === 'log') ctx.log(String(message ?? ''), LEVELS.includes(level) ? (level as LogLevel) : 'info')
  else if (type === 'artifact' && typeof name === 'string' && typeof uri === 'string') ctx.artifact?.(name, uri)
  else if (type === 'session_start' && typeof message === 'string' && message !== '') ctx.log(message)
}
