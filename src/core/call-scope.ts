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

/** What code runs in: the handler of a call, or host code that a handler waits for. */
export type CallScope<Work extends ScopedTransaction = ScopedTransaction> = {
  /** The call the code belongs to; undefined for code of the host. */
  readonly call: { fail(error: ToolError): void } | undefined
  /** What the call has open that calls inside it become part of. */
  work: Work | undefined
  readonly outer: CallScope<Work> | undefined
}

let callStorage: AsyncLocalStorage<CallScope> | undefined
let singleScope: CallScope | undefined
let isSingleCallExpected = false

/**
 * Declares that this process makes one call and ends, so all code outside another scope belongs to
 * it. AsyncLocalStorage would cost several milliseconds and distinguish nothing.
 */
export function expectSingleCall(): void {
  isSingleCallExpected = true
}

/** Runs code in a new scope. `own` is passed to `run`, which can be one function for all calls. */
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

/** The scope of the running code. */
export function currentScope(): CallScope | undefined {
  return callStorage?.getStore() ?? singleScope
}

/** True in a scope that AsyncLocalStorage keeps apart from other code of the process. */
function isInsideScope(): boolean {
  return callStorage?.getStore() !== undefined
}

// Scopes whose work is over are dropped, or a chain of calls that start each other would grow
// without limit.
function findOpenScope(place: CallScope | undefined): CallScope | undefined {
  let open = place
  while (open && (!open.work || open.work.isOver)) open = open.outer
  return open
}

// Code that a failed call left running must see that it failed; the innermost such call is enough.
function findKeptScope(place: CallScope | undefined): CallScope | undefined {
  let kept = place
  while (kept && (!kept.work || (kept.work.isOver && !kept.work.isLost))) kept = kept.outer
  return kept?.work?.isLost
    ? { call: kept.call, work: kept.work, outer: findOpenScope(kept.outer) }
    : kept
}

type FailableCall = { fail(error: ToolError): void }

class ProcessExitError extends ToolError {}

/** Runs a handler so that `process.exit` inside it fails the call instead of ending the host. */
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
 * Runs host code that a handler called: its `process.exit` ends the process. Without effect in a
 * process that makes one call.
 */
export function runAsHost<T>(run: () => T): T {
  return isInsideScope() ? runInScope(undefined, run, undefined) : run()
}

/** Fails the call whose code is running, for errors that no one handled. No-op outside a call. */
export function failCurrentCall(error: ToolError): void {
  currentScope()?.call?.fail(error)
}

let guardedExit: typeof process.exit | undefined
// A replacement that was installed since (test runners do that for each file) is guarded too.
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

// Thrown inside a timer or an unawaited promise, the error is uncaught: it must not end the host.
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
  // This listener must not keep the process alive after an error that no other listener expects.
  if (process.listenerCount('uncaughtException') === 0)
    process.nextTick(() => {
      throw error
    })
}

/** Receives what handlers write to the streams of the process; false once it has stopped. */
type StrayOutputListener = (bytes: Uint8Array) => boolean

let strayStorage: AsyncLocalStorage<StrayOutputListener> | undefined
let fallbackListener: StrayOutputListener | undefined

/** Sends what `work`, and everything it starts, writes to the process streams to a listener. */
export function captureStrayOutput<T>(listener: StrayOutputListener, work: () => T): T {
  strayStorage ??= host.localStorage<StrayOutputListener>()
  return strayStorage.run(listener, work)
}

/** Sets the listener for output no other listener takes; returns the function that removes it. */
export function captureRemainingStrayOutput(listener: StrayOutputListener): () => void {
  const before = fallbackListener
  fallbackListener = listener
  return () => {
    if (fallbackListener === listener) fallbackListener = before
  }
}

/** Passes output to the current listener; false when there is none. */
export function emitStrayOutput(bytes: Uint8Array): boolean {
  return strayStorage?.getStore()?.(bytes) === true || fallbackListener?.(bytes) === true
}
