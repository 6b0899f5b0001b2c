/**
 * Which call the running code belongs to, kept in AsyncLocalStorage.
 *
 * `process.exit` inside a handler fails its call instead of ending the host, and output that
 * handlers write to the streams of the process reaches the listener of their call.
 */

import type { AsyncLocalStorage } from 'node:async_hooks'
import { ToolError } from '../protocol/tool-error.ts'
import { host } from './host.ts'

/** Something that belongs to a call and ends with it. */
type ScopedTransaction = {
  readonly isOver: boolean
  /** It ended, and nothing of it stayed. */ readonly isLost: boolean
}

/**
 * Where code is at work: in the handler of a call, or in something of the host that a handler waits
 * for.
 */
export type CallScope<Work extends ScopedTransaction = ScopedTransaction> = {
  /** The call whose code this is; undefined for code of the host. */
  readonly call: { fail(error: ToolError): void } | undefined
  /** What the call has open that calls inside it become part of. */
  work: Work | undefined
  readonly outer: CallScope<Work> | undefined
}

let callStorage: AsyncLocalStorage<CallScope> | undefined
let singleScope: CallScope | undefined
let isSingleCallExpected = false

/**
 * Says that this process makes one call and ends: all code that is in no other place belongs to it.
 * Following it costs several milliseconds, and there is nothing to tell it from.
 */
export function expectSingleCall(): void {
  isSingleCallExpected = true
}

/**
 * Runs something in a place of its own; `own` is what it needs besides, so that it can be the same
 * function for every call.
 */
function runInScope<T, Own>(call: CallScope['call'], run: (own: Own) => T, own: Own): T {
  if (isSingleCallExpected && call) {
    isSingleCallExpected = false
    singleScope = { call, work: undefined, outer: undefined }
    return run(own)
  }
  callStorage ??= host.localStorage<CallScope>()
  return callStorage.run(
    {
      call,
      work: undefined,
      outer: call ? findKeptScope(currentScope()) : findOpenScope(currentScope()),
    },
    run,
    own,
  )
}

/** Where we are. */
export function currentScope(): CallScope | undefined {
  return callStorage?.getStore() ?? singleScope
}

/** True in a place that other code of the process has to be told from. */
function isInsideScope(): boolean {
  return callStorage?.getStore() !== undefined
}

// Places whose work is over are forgotten, or a chain of calls that start each other would be kept
// for ever.
function findOpenScope(place: CallScope | undefined): CallScope | undefined {
  let open = place
  while (open && (!open.work || open.work.isOver)) open = open.outer
  return open
}

// What a call left running when it failed has to know that; one such call is enough.
function findKeptScope(place: CallScope | undefined): CallScope | undefined {
  let kept = place
  while (kept && (!kept.work || (kept.work.isOver && !kept.work.isLost))) kept = kept.outer
  return kept?.work?.isLost
    ? { call: kept.call, work: kept.work, outer: findOpenScope(kept.outer) }
    : kept
}

type FailableCall = { fail(error: ToolError): void }

class ProcessExitError extends ToolError {}

/**
 * Runs a handler so that `process.exit` inside it fails the call instead of ending the host. `own`
 * is what `run` needs, where it is the same function for every call.
 */
export function runWithExitGuard<T>(call: FailableCall, run: () => T): T
export function runWithExitGuard<T, Own>(call: FailableCall, run: (own: Own) => T, own: Own): T
export function runWithExitGuard<T, Own>(
  call: FailableCall,
  run: (own: Own | undefined) => T,
  own?: Own,
): T {
  installExitGuard()
  return runInScope(call, run, own)
}

/**
 * Runs something of the host in the middle of a handler's work: its `process.exit` is meant. A
 * process that makes one call keeps its own.
 */
export function runAsHost<T>(run: () => T): T {
  return isInsideScope() ? runInScope(undefined, run, undefined) : run()
}

/**
 * Fails the call whose handler is at work here, as the process sees it when an error is left
 * unhandled; nothing outside of a call.
 */
export function failCurrentCall(error: ToolError): void {
  currentScope()?.call?.fail(error)
}

let guardedExit: typeof process.exit | undefined
// Whoever has replaced it since (a test runner does for each file) is guarded too.
function installExitGuard(): void {
  if (process.exit === guardedExit) return
  const exit = process.exit
  guardedExit = process.exit = (code?: number | string | null) => {
    const call = currentScope()?.call
    if (!call) return exit(code)
    const error = new ProcessExitError('INTERNAL', `the tool called process.exit(${code ?? ''})`, {
      suggestion: { action: 'abort', fix: 'The author of the tool should throw or return instead' },
    })
    call.fail(error)
    ignoreExitErrorsBriefly()
    throw error
  }
}

// Thrown inside a timer or a promise that nobody awaits, the error reaches nobody: it must not end
// the host either.
let ignoringCount = 0
function ignoreExitErrorsBriefly(): void {
  if (ignoringCount++ === 0) process.on('uncaughtException', ignoreExitError)
  setImmediate(() => {
    if (--ignoringCount === 0) process.off('uncaughtException', ignoreExitError)
  }).unref()
}

function ignoreExitError(error: unknown): void {
  if (error instanceof ProcessExitError) return
  process.off('uncaughtException', ignoreExitError)
  // Our listening must not save the process from an error that nobody else expects.
  if (process.listenerCount('uncaughtException') === 0)
    process.nextTick(() => {
      throw error
    })
}

/**
 * Hears what handlers and their libraries write to the streams of the process; false where it
 * listens no longer.
 */
type StrayOutputListener = (bytes: Uint8Array) => boolean

let strayStorage: AsyncLocalStorage<StrayOutputListener> | undefined
let fallbackListener: StrayOutputListener | undefined

/**
 * Has somebody hear what is written by this work and by all that comes of it, whatever else goes on
 * in the process.
 */
export function captureStrayOutput<T>(listener: StrayOutputListener, work: () => T): T {
  strayStorage ??= host.localStorage<StrayOutputListener>()
  return strayStorage.run(listener, work)
}

/** Has somebody hear what nobody else hears, until the function that it gives is called. */
export function captureRemainingStrayOutput(listener: StrayOutputListener): () => void {
  const before = fallbackListener
  fallbackListener = listener
  return () => {
    if (fallbackListener === listener) fallbackListener = before
  }
}

/** Tells whoever listens here; false where nobody does. */
export function emitStrayOutput(bytes: Uint8Array): boolean {
  return strayStorage?.getStore()?.(bytes) === true || fallbackListener?.(bytes) === true
}
