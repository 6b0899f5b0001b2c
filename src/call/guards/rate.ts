import type { Duration } from '../../contract/duration.ts'
import { toMilliseconds } from '../../contract/duration.ts'
import type { Guard } from '../../contract/guard.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkOptions } from '../../define/names.ts'
import { slice } from '../state/slice.ts'
import { guard } from './guard.ts'
import { isOneOf } from './tool-names.ts'

type Begun = {
  readonly guard: string
  /** Milliseconds of the calendar, because a state may outlive its process. */ readonly at: number
}

const begun = slice<Begun>('toolable.guards.begun', { kind: 'log', read: readBegun })

export type RateOptions = {
  readonly calls: number
  readonly per: Duration
  /** Default: all tools, counted together. */
  readonly tools?: readonly string[]
  /** Rates of the same name on the same state count together; the default is another one for each limit. */
  readonly name?: string
}

/** At most so many calls in so much time on the same state. Calls that fail count, and so do those that a later guard refuses. */
export function rate(options: RateOptions): Guard {
  checkOptions('guards.rate()', options, ['calls', 'per', 'tools', 'name'])
  const { calls, per, tools } = options
  if (!(Number.isSafeInteger(calls) && calls > 0))
    throw new ToolError('CONFIG', `calls: must be a whole number above 0, got ${String(calls)}`)
  const milliseconds = readTime(per)
  const isMeant = tools === undefined ? () => true : isOneOf('tools of guards.rate()', tools)
  const name = options.name ?? ['rate', `${calls}/${milliseconds}ms`, ...(tools ?? [])].join(' ')
  return guard({
    name,
    check({ tool, state }) {
      if (!isMeant(tool)) return undefined
      const now = Date.now()
      const log = state.get(begun)
      // A clock that was put back: what it calls the future has begun by now, and must not count until then.
      if (log.all().some((call) => isAhead(call, name, now)))
        log.reduce(
          (all) => all.map((call) => (isAhead(call, name, now) ? { guard: name, at: now } : call)),
          undefined,
        )
      const recent = log.where((call) => call.guard === name && call.at > now - milliseconds)
      if (recent.length >= calls) {
        // As many must have become old as are above the limit with one more.
        const seconds = Math.max(
          1,
          Math.ceil((recent[recent.length - calls]!.at + milliseconds - now) / 1000),
        )
        return {
          code: 'RATE_LIMIT',
          message: `'${tool}' was called too often: at most ${calls} calls in ${milliseconds / 1000} seconds`,
          advice: `Wait ${seconds} seconds; then call it again`,
          details: { limit: calls, per_s: milliseconds / 1000, retry_after_s: seconds },
        }
      }
      // Written at once, without waiting for anything in between, so that calls beside this one count it.
      if (log.all().some((call) => isOld(call, name, now, milliseconds)))
        log.clear((call) => isOld(call, name, now, milliseconds))
      log.append({ guard: name, at: now })
      return undefined
    },
  })
}

function isAhead(call: Begun, name: string, now: number): boolean {
  return call.guard === name && call.at > now
}

function isOld(call: Begun, name: string, now: number, milliseconds: number): boolean {
  return call.guard === name && call.at <= now - milliseconds
}

function readBegun(value: unknown): Begun {
  if (!isObject(value) || typeof value['guard'] !== 'string' || typeof value['at'] !== 'number')
    throw new TypeError('the begin of a call is { guard, at }')
  return { guard: value['guard'], at: value['at'] }
}

// A mistake of the author, not of whoever calls.
function readTime(per: Duration): number {
  try {
    return toMilliseconds(per)
  } catch (error) {
    throw new ToolError('CONFIG', `per: ${(error as Error).message}`, { cause: error })
  }
}
