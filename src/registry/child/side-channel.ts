import type { Context } from '../../contract/context.ts'
import { shorten } from '../../contract/shorten.ts'
import { readNotification, tellEvent } from './answer/read-event.ts'

const LONGEST_LINE = 4000
const MOST_LINES = 10_000
const MOST_KEPT = 16_000

/** What a child says beside its answer, on stderr. It never decides how a call ends. */
export type SideChannel = {
  hear(line: string): void
  /** The last of it, notifications left out. */
  tail(): string
}

/** Tells the caller what a child says on stderr: notifications as what they are, everything else as debug messages. */
export function sideChannel(ctx: Context): SideChannel {
  let kept: string[] = []
  let size = 0
  let heard = 0
  return {
    hear(line) {
      heard += 1
      const event = readNotification(line)
      if (event && heard <= MOST_LINES) return tellEvent(event, ctx)
      if (event || line.trim() === '') return
      const text = shorten(line, LONGEST_LINE)
      kept.push(text)
      size += text.length + 1
      // Halved now and then, not line by line: a flood costs nothing more.
      if (size > 2 * MOST_KEPT) {
        kept = [kept.join('\n').slice(-MOST_KEPT)]
        size = MOST_KEPT
      }
      if (heard < MOST_LINES) ctx.log(text, 'debug')
      else if (heard === MOST_LINES) ctx.log('the tool says more on stderr than is shown', 'warn')
    },
    tail: () => kept.join('\n').slice(-MOST_KEPT),
  }
}
