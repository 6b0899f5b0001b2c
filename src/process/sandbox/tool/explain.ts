import { constants } from 'node:os'
import type { ChildEnd, ChildOptions } from '../../child-type.ts'
import { explainLimited } from '../explain.ts'
import { explainRefusal } from '../why-not.ts'

const FIRST_OF_SIGNALS = 128
/** Programs that were cancelled say so with this status of their own. */
const CANCELLED = 130

const SIGNALS = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** The end of a tool as if there were no sandbox. `hasEnded` tells whether the command inside came to an end; where it did not, and nobody ended it, the sandbox was never ready. */
export function explainTool(
  end: ChildEnd,
  options: ChildOptions,
  hasEnded: boolean,
): Promise<ChildEnd> {
  if (end.reason === 'exited' && end.status !== null && !hasEnded) {
    const words = end.stderr
      .toString('utf8', 0, 1000)
      .trim()
      .split('\n')[0]!
      .replace(/^bwrap: /, '')
    const problem = explainRefusal(words || `bwrap ended with status ${end.status}`)
    return Promise.resolve({ ...end, reason: 'not-started', problem })
  }
  const signal =
    end.status === null || end.status === CANCELLED
      ? undefined
      : SIGNALS.get(end.status - FIRST_OF_SIGNALS)
  return explainLimited(signal === undefined ? end : { ...end, status: null, signal }, options)
}
