import { toMilliseconds } from '../../contract/duration.ts'
import type { Duration } from '../../contract/duration.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { Cancellation } from '../../call/cancellation.ts'
import type { CallOptions, ServedCallOptions } from '../../call/options.ts'
import type { HttpRequest } from './exchange.ts'

/** What the server decides about every call. */
export type CallDefaults = Pick<CallOptions, 'caller' | 'confirm' | 'cwd' | 'env'> & {
  /** Longest time a call may take; a request may ask for less. */
  readonly timeout?: Duration
}

const LONGEST_CALLER = 100
const LONGEST_KEY = 255

/** The options of a call as the headers of its request give them; throws INVALID_INPUT naming the header. */
export function readCallOptions(request: HttpRequest, defaults: CallDefaults): CallOptions {
  const { timeout: longest, confirm = false, ...rest } = defaults
  const timeout = shortest(longest, request.header('toolable-timeout'))
  const key = shortText(request, 'Idempotency-Key', LONGEST_KEY)
  const caller = shortText(request, 'Toolable-Caller', LONGEST_CALLER)
  return {
    ...rest,
    confirm: isYes(request, 'Toolable-Confirm') || confirm,
    ...(isYes(request, 'Toolable-Dry-Run') && { dryRun: true }),
    ...(timeout !== undefined && { timeout }),
    ...(key !== undefined && { idempotencyKey: key }),
    ...(caller !== undefined && { caller }),
  }
}

/** The same, ended when the client goes away or the server stops. */
export function cancelledWith(request: HttpRequest, options: CallOptions): ServedCallOptions {
  const cancellation = new Cancellation()
  request.onGone((why) => cancellation.cancel(why))
  return { ...options, cancellation }
}

/** True when a request asks for its events while they happen. */
export function wantsEvents(request: HttpRequest): boolean {
  const asked = request.search === '' ? null : new URLSearchParams(request.search).get('stream')
  if (asked !== null) return readYes(asked, 'stream')
  const accept = request.header('accept') ?? ''
  return /\btext\/event-stream\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept)
}

function isYes(request: HttpRequest, name: string): boolean {
  return readYes(request.header(name.toLowerCase()) ?? 'no', name)
}

function readYes(value: string, name: string): boolean {
  const word = value.trim().toLowerCase()
  if (['yes', 'true', '1'].includes(word)) return true
  if (['no', 'false', '0'].includes(word)) return false
  throw new ToolError('INVALID_INPUT', `${name} is yes or no; got '${value.slice(0, 40)}'`, {
    field: name,
  })
}

function shortText(request: HttpRequest, name: string, longest: number): string | undefined {
  const value = request.header(name.toLowerCase())?.trim()
  if (value === undefined || value === '') return undefined
  if (value.length <= longest) return value
  throw new ToolError('INVALID_INPUT', `${name} is longer than ${longest} characters`, {
    field: name,
  })
}

function shortest(longest: Duration | undefined, asked: string | undefined): Duration | undefined {
  if (asked === undefined) return longest
  const milliseconds = toMilliseconds(asked, 'Toolable-Timeout')
  return longest !== undefined && toMilliseconds(longest) < milliseconds ? longest : asked
}
