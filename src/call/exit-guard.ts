import { ToolError } from '../contract/tool-error.ts'
import { at, here, isInside } from './work-place.ts'

type Failing = { fail(error: ToolError): void }

class ExitCalled extends ToolError {}

/** Runs a handler so that `process.exit` inside it fails the call instead of ending the host. `own` is what `run` needs, where it is the same function for every call. */
export function withoutExit<T>(call: Failing, run: () => T): T
export function withoutExit<T, Own>(call: Failing, run: (own: Own) => T, own: Own): T
export function withoutExit<T, Own>(call: Failing, run: (own: Own | undefined) => T, own?: Own): T {
  guardExit()
  return at(call, run, own)
}

/** Runs something of the host in the middle of a handler's work: its `process.exit` is meant. A process that makes one call keeps its own. */
export function asHost<T>(run: () => T): T {
  return isInside() ? at(undefined, run, undefined) : run()
}

/** Fails the call whose handler is at work here, as the process sees it when an error is left unhandled; nothing outside of a call. */
export function failCurrentCall(error: ToolError): void {
  here()?.call?.fail(error)
}

let guarded: typeof process.exit | undefined
// Whoever has replaced it since (a test runner does for each file) is guarded too.
function guardExit(): void {
  if (process.exit === guarded) return
  const exit = process.exit
  guarded = process.exit = (code?: number | string | null) => {
    const call = here()?.call
    if (!call) return exit(code)
    const error = new ExitCalled('INTERNAL', `the tool called process.exit(${code ?? ''})`, {
      suggestion: { action: 'abort', fix: 'The author of the tool should throw or return instead' },
    })
    call.fail(error)
    swallowForNow()
    throw error
  }
}

// Thrown inside a timer or a promise that nobody awaits, the error reaches nobody: it must not end the host either.
let swallowing = 0
function swallowForNow(): void {
  if (swallowing++ === 0) process.on('uncaughtException', swallow)
  setImmediate(() => {
    if (--swallowing === 0) process.off('uncaughtException', swallow)
  }).unref()
}

function swallow(error: unknown): void {
  if (error instanceof ExitCalled) return
  process.off('uncaughtException', swallow)
  // Our listening must not save the process from an error that nobody else expects.
  if (process.listenerCount('uncaughtException') === 0)
    process.nextTick(() => {
      throw error
    })
}
