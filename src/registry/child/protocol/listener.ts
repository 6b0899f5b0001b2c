import { toToolError } from '../../../call/failure.ts'
import type { Context } from '../../../contract/context.ts'
import { readProtocolEnd } from '../../../contract/dialects/read-protocol.ts'
import type { JsonObject } from '../../../contract/json.ts'
import { parseObject } from '../../../contract/json.ts'
import type { Outcome } from '../../../contract/outcome.ts'
import { shorten } from '../../../contract/shorten.ts'
import type { ToolError } from '../../../contract/tool-error.ts'
import { toolErrorFrom } from '../../../contract/tool-error.ts'
import type { ChildOutput } from '../answer/answer.ts'
import { meaningOf } from '../answer/exit-meaning.ts'
import { readEvent, tellEvent } from '../answer/read-event.ts'
import { isOk, readExit } from '../answer/read-exit.ts'
import { giveOutcome } from '../give-outcome.ts'

const ENDS = new Set<unknown>(['result', 'error', 'cancelled'])

/** Understands the lines of one run, as they come. */
export type ProtocolListener = {
  hear(line: string): void
  /** What the run came to, when the child is over. */
  conclude(output: ChildOutput): Promise<unknown>
}

/** Tells events on, has questions answered, and keeps the first line that ends the run; what comes behind it is refused. */
export function listenToRun(
  ctx: Context,
  answer: (question: JsonObject) => Promise<void>,
): ProtocolListener {
  let outcome: Outcome | undefined
  let unanswered: ToolError | undefined
  return {
    hear(line) {
      const message = parseObject(line)
      if (!message) return ctx.log(shorten(line, 2000), 'debug')
      if (outcome) return ctx.log(`the tool goes on after its end: ${shorten(line, 200)}`, 'warn')
      if (ENDS.has(message['type'])) outcome = readProtocolEnd(message, { tool: '' })
      else if (message['type'] === 'action_required')
        void answer(message).catch((error: unknown) => {
          unanswered = toToolError(error)
        })
      else {
        const event = readEvent(message)
        if (event) tellEvent(event, ctx)
      }
    },
    async conclude(output) {
      if (outcome?.ok) {
        const { status } = output
        if (output.signal !== null || meaningOf(output))
          throw toolErrorFrom(readExit(output, undefined, undefined).error)
        if (!isOk(output))
          ctx.log(`the tool gave a result, and then ended with exit status ${status}`, 'warn')
        return giveOutcome(outcome, ctx)
      }
      // A question that nobody can answer is known a moment later than a quick end.
      await new Promise((resolve) => setImmediate(resolve))
      // It failed because nobody answered, whatever it says about it.
      if (unanswered) throw unanswered
      return giveOutcome(readExit(output, undefined, outcome), ctx)
    },
  }
}
