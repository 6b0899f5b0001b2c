import type { Context } from '../../contract/context.ts'
import type { JsonObject } from '../../contract/json.ts'
import { readEvent, tellEvent } from '../child/answer/read-event.ts'
import type { WarmContext } from './warm-type.ts'

/** Tells the caller what a line of the program tells. Who reads a resource or a prompt hears log messages only. */
export function tellLine(line: JsonObject, ctx: WarmContext): void {
  const event = readEvent(line)
  if (event && (ctx.progress || event.type === 'log')) tellEvent(event, ctx as Context)
  else if (
    line['type'] === 'session_start' &&
    typeof line['message'] === 'string' &&
    line['message'] !== ''
  )
    ctx.log(line['message'])
}
